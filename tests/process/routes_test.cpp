#include "process/serving.hpp"

#include "support/answers.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace routes_test {
namespace {

net::awaitable<reply> take(http_request&) {
    co_return reply{.status = 204};
}

/// The routes of a worker.
struct scene {
    lifecycle life;
    reload_metrics reloads;
    admin_shared shared{.life = life, .reload = reloads};
    net::io_context io{1};
    admin_answers admin{shared, io};
    route_table routes = make_routes(admin, take);
};

}  // namespace

TEST_CASE("the paths of the documentation are there, and no others") {
    const scene at;
    struct expected {
        std::string_view path;
        std::string_view methods;
        route_kind kind;
    };
    constexpr std::array all{expected{"/api/v1/write", "POST", route_kind::ingestion},
                             expected{"/api/v1/push", "POST", route_kind::ingestion},
                             expected{"/api/prom/push", "POST", route_kind::ingestion},
                             expected{"/api/v1/receive", "POST", route_kind::ingestion},
                             expected{"/prometheus/api/v1/write", "POST", route_kind::ingestion},
                             expected{"/prometheus/api/v1/push", "POST", route_kind::ingestion},
                             expected{"/", "GET, HEAD", route_kind::admin},
                             expected{"/health", "GET, HEAD", route_kind::admin},
                             expected{"/-/healthy", "GET, HEAD", route_kind::admin},
                             expected{"/-/ready", "GET, HEAD", route_kind::admin},
                             expected{"/stats", "GET, HEAD", route_kind::admin},
                             expected{"/metrics", "GET, HEAD", route_kind::admin},
                             expected{"/config", "GET, HEAD", route_kind::admin},
                             expected{"/api/v1/top", "GET, HEAD", route_kind::admin},
                             expected{"/api/v1/findings", "GET, HEAD", route_kind::admin},
                             expected{"/api/v1/refused", "GET, HEAD", route_kind::admin},
                             expected{"/api/v1/explain", "GET, HEAD", route_kind::admin},
                             expected{"/api/v1/suggestions", "GET, HEAD", route_kind::admin},
                             expected{"/-/reload", "POST", route_kind::admin}};
    CHECK(at.routes.all().size() == all.size());
    for (const expected& each : all) {
        CAPTURE(each.path);
        const route* const found = at.routes.find(each.path);
        REQUIRE(found != nullptr);
        CHECK(found->methods == each.methods);
        CHECK(found->kind == each.kind);
        CHECK(found->answer);
    }
}

TEST_CASE("a connection moves to a worker with every request but those that only read") {
    // The front desk tells them by their first byte (http/served_connection.cpp).
    const scene at;
    for (const route& each : at.routes.all()) {
        const bool reads = each.methods == "GET, HEAD";
        CHECK((reads || (each.methods.front() != 'G' && each.methods.front() != 'H')));
        if (each.kind == route_kind::ingestion) CHECK_FALSE(reads);
    }
}

TEST_CASE("each path is answered by whom it belongs to") {
    scene at;
    CHECK(answer_of(*at.routes.find("/api/v1/push"), {}, at.io).status == 204);
    CHECK(answer_of(*at.routes.find("/-/healthy"), {}, at.io).status == 200);
    CHECK(answer_of(*at.routes.find("/-/ready"), {}, at.io).status == 503);
    CHECK(answer_of(*at.routes.find("/stats"), {.query = "limit=x"}, at.io).status == 400);
}

}  // namespace routes_test
