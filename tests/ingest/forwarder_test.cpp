#include "ingest/forwarder.hpp"

#include "ingest/ingest_parts.hpp"
#include "ingest/requests.hpp"
#include "ingest/sender_answer.hpp"
#include "support/catch.hpp"
#include "upstream/request.hpp"

namespace seriesgate::testing::forwarder_test {
namespace {

store_config store_at(const std::string& host) {
    store_config made;
    made.backends = {{.url = "http://" + host + "/w", .host = host, .target = "/w", .authority = host}};
    return made;
}

/// A store and two replicas that have to have each request, and one that does not.
config replicated() {
    config made;
    made.upstream.store = store_at("a.test");
    made.upstream.replicas = {{.store = store_at("b.test")},
                              {.store = store_at("c.test"), .best_effort = true},
                              {.store = store_at("d.test")}};
    return made;
}

TEST_CASE("replicas' copies of headers are held of the memory for requests") {
    ingest_parts with{replicated()};
    const forwarder tested{with.io, with.shared};
    gauge held;
    inflight_room room{held, 200'000, 0};
    {
        received one{room, "body"};
        one.headers.insert("X-Pad", std::string(60'000, 'x'));
        CHECK(tested.take_room(one.request));
        CHECK(held.value() == static_cast<std::int64_t>(4 + 2 * bytes_held(one.headers)));
        received another{room, "body"};
        another.headers.insert("X-Pad", std::string(60'000, 'x'));
        CHECK_FALSE(tested.take_room(another.request));
    }
    CHECK(held.value() == 0);
}

}  // namespace
}  // namespace seriesgate::testing::forwarder_test
