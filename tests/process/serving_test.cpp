#include "process/serving.hpp"

#include <condition_variable>
#include <mutex>
#include <stdexcept>

#include "base/clock.hpp"
#include "http/access_control.hpp"
#include "http/passwords.hpp"
#include "ingest/warm_series.hpp"
#include "limit/limiter.hpp"
#include "support/answers.hpp"
#include "support/catch.hpp"
#include "support/running_loop.hpp"

namespace seriesgate::testing::serving_test {
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

TEST_CASE("who knows no password gets a quarter of a processor to guess with") {
    constexpr int cost = 8;
    constexpr std::size_t guesses = 5;
    const std::string hash = bcrypt_of_nobody(cost);
    web_config settings;
    settings.basic_auth_users["alice"] = std::string{hash};
    struct answer {
        password_verdict made;
        std::chrono::nanoseconds of_the_clock;
        std::chrono::nanoseconds of_a_core;
    };
    std::mutex guard;
    std::condition_variable hears;
    std::vector<answer> answers;
    access_control access{settings};
    const running_loop checking{[&] { return check_passwords(access); }};
    for (std::size_t i = 0; i < guesses; ++i) {
        password_question asked{.user = "alice", .hash = hash, .password = std::string{"guessed"}};
        asked.of[0] = static_cast<unsigned char>(i);
        REQUIRE(access.queue.add("10.0.0.1", asked, [&](password_verdict made) {
            const std::scoped_lock lock{guard};
            answers.push_back({made, std::chrono::steady_clock::now().time_since_epoch(), thread_cpu_clock::now()});
            hears.notify_all();
        }));
    }
    std::unique_lock lock{guard};
    REQUIRE(hears.wait_for(lock, 20s, [&] { return answers.size() == guesses; }));
    for (const answer& each : answers) CHECK(each.made == password_verdict::wrong);
    // After each check the thread rests three times as long: what it did before the last but one answer, and rested
    // since.
    const auto checked = answers[guesses - 2].of_a_core - answers.front().of_a_core;
    CHECK(answers.back().of_the_clock - answers.front().of_the_clock > 3 * checked);
}

TEST_CASE("where there is no thread for a worker, those before it end") {
    config settings;
    settings.upstream.discard = true;
    settings.server.threads = 2;
    series_limiter limiter{{}, wall_clock::now()};
    gate_metrics metrics;
    access_control access{settings.web};
    shared_cardinality cardinality{settings, hash_key::known_to_all(), limiter, wall_clock::now()};
    warm_series warm;
    serving_shared shared{settings, limiter, hash_key::known_to_all(), metrics, access, cardinality, warm, nullptr};
    const worker_threads workers = make_workers(shared, settings.server);
    REQUIRE(workers.size() == 2);
    const thread_starter one_thread = [](net::io_context& loop, const std::string& name) {
        if (name != "worker-0") throw std::runtime_error("no thread");
        return start_thread(loop, name);
    };
    CHECK_THROWS_WITH((running_workers{workers, settings, one_thread}), "no thread");
    CHECK(workers.front()->thread.io.stopped());
}

}  // namespace
}  // namespace seriesgate::testing::serving_test
