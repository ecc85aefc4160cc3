#include "ingest/outgoing.hpp"

#include "ingest/requests.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::outgoing_test {
namespace {

const body_format snappy_v1{};
const body_format zstd_v1{.coding = compression::zstd};
const body_format snappy_v2{.version = protocol::v2};

/// A gate with room for one series.
struct scene {
    config settings;
    gauge held;
    inflight_room room;
    series_limiter limiter;
    label_hash_cache labels{};
    work_pool pool;

    explicit scene(const limit_rules& rules = {.global = {.hourly = 1}}, std::uint64_t bytes_max = 1 << 20)
        : room(held, bytes_max, 0), limiter(rules, noon), pool(settings, hash_key::known_to_all(), labels) {}

    /// What becomes of it; the request keeps what it has not given away.
    std::optional<outgoing> of(received& from, const body_format& kind) {
        return of(from, kind, *pool.take(from.memory));
    }
    std::optional<outgoing> of(received& from, const body_format& kind, request_work& work) {
        const auto decoded = work.codec.decode(kind.coding, from.request.body, 1 << 20, work.decoding);
        REQUIRE(decoded.has_value());
        REQUIRE(work.planning.read(*decoded, "", kind.version).code == wire_errc::none);
        const auto decided = work.planning.decide(limiter, noon, "");
        REQUIRE(decided.has_value());
        const decided_request whole{
            .from = from.request, .kind = kind, .tenant = "", .decoded = *decoded, .decided = *decided};
        return make_outgoing(whole, work, limiter, settings.upstream);
    }
    outgoing of(const std::string& body, const body_format& kind) {
        received from{room, compressed(kind.coding, body)};
        auto made = of(from, kind);
        REQUIRE(made);
        return *made;
    }
};

TEST_CASE("a request of which nothing is refused goes on as the bytes that came, not as a copy of them") {
    scene at{limit_rules{}};
    received from{at.room, compressed(compression::snappy, body_v1({"a", "b", "c"}))};
    const char* const bytes = from.request.body.data();
    const std::string copy = from.request.body;
    const auto made = at.of(from, snappy_v1);
    REQUIRE(made);
    CHECK(made->forward == body_action::unchanged);
    CHECK(made->body->data() == bytes);
    CHECK(*made->body == copy);
    CHECK(made->decided.received.samples == 3);
    CHECK(made->refused_text.empty());
    CHECK(made->untranslated_text.empty());
    CHECK(at.held.value() == static_cast<std::int64_t>(copy.size()));
}

TEST_CASE("the body is shared and outlives the request and all that has worked on it") {
    shared_body kept;
    {
        scene at;
        kept = at.of(body_v1({"a"}), snappy_v1).body;
    }
    CHECK(kept.use_count() == 1);
    CHECK(decompressed(compression::snappy, *kept) == body_v1({"a"}));
}

TEST_CASE("a request of which something is refused goes on without that, compressed as it came") {
    const body_format& kind = GENERATE(std::cref(snappy_v1), std::cref(zstd_v1)).get();
    scene at;
    received from{at.room, compressed(kind.coding, body_v1({"a", "b"}))};
    const std::string whole = from.request.body;
    {
        const auto made = at.of(from, kind);
        REQUIRE(made);
        CHECK(made->forward == body_action::spliced);
        CHECK(decompressed(kind.coding, *made->body) == body_v1({"a"}));
        CHECK(made->decided.refused_series == 1);
        CHECK(from.request.body == whole);
        // The body that goes on is held, too; what it took to make it is not.
        CHECK(at.held.value() == static_cast<std::int64_t>(whole.size() + made->body->capacity()));
    }
    from.memory.release();
    CHECK(at.held.value() == 0);
}

TEST_CASE("a request of which everything is refused goes nowhere") {
    scene at;
    (void)at.of(body_v1({"a"}), snappy_v1);
    const auto made = at.of(body_v1({"b", "c"}), snappy_v1);
    CHECK(made.forward == body_action::nothing);
    CHECK(made.body == nullptr);
    CHECK(made.decided.refused.samples == 2);
}

TEST_CASE("a store of remote write 1 gets remote write 2 translated") {
    scene at;
    at.settings.upstream.protocol = upstream_protocol::v1;
    SECTION("all of it") {
        const auto made = at.of(body_v2({"a"}), snappy_v2);
        CHECK(made.forward == body_action::translated);
        CHECK(decompressed(compression::snappy, *made.body) == body_v1({"a"}));
        CHECK(made.untranslated == entry_counts{});
    }
    SECTION("what is left of it") {
        const auto made = at.of(body_v2({"a", "b"}), snappy_v2);
        CHECK(made.forward == body_action::translated);
        CHECK(decompressed(compression::snappy, *made.body) == body_v1({"a"}));
        CHECK(made.decided.refused_series == 1);
    }
    SECTION("nothing is left because all was refused") {
        (void)at.of(body_v2({"a"}), snappy_v2);
        CHECK(at.of(body_v2({"b"}), snappy_v2).forward == body_action::nothing);
    }
    SECTION("nothing is left because remote write 1 has no words for it") {
        const auto made = at.of(custom_buckets_v2(), snappy_v2);
        CHECK(made.forward == body_action::nothing);
        CHECK(made.body == nullptr);
        CHECK(made.lost.histograms == 1);
        CHECK(made.untranslated == entry_counts{.samples = 1, .histograms = 1, .exemplars = 0});
        CHECK(made.untranslated_text == "left out 1 native histogram with custom buckets: remote write 1 has none");
    }
    SECTION("an empty request stays one") {
        const auto made = at.of("", snappy_v2);
        CHECK(made.forward == body_action::translated);
        CHECK(decompressed(compression::snappy, *made.body).empty());
    }
    SECTION("remote write 1 goes on as it is") {
        CHECK(at.of(body_v1({"a"}), snappy_v1).forward == body_action::unchanged);
    }
    SECTION("nothing is translated for nobody") {
        at.settings.upstream.discard = true;
        CHECK(at.of(body_v2({"a"}), snappy_v2).forward == body_action::unchanged);
    }
}

TEST_CASE("remote write 2 goes on as it is to a store that reads it") {
    scene at;
    CHECK(at.of(body_v2({"a"}), snappy_v2).forward == body_action::unchanged);
    const auto made = at.of(body_v2({"a", "b"}), snappy_v2);
    CHECK(made.forward == body_action::spliced);
    CHECK(made.version == protocol::v2);
    const std::string left = decompressed(compression::snappy, *made.body);
    CHECK(left.starts_with(symbols_v2({"a", "b"})));
}

TEST_CASE("the sender is told of refused series where the limit says so") {
    limit_rules rules{.global = {.hourly = 1}};
    SECTION("it is not") {
        scene at{rules};
        CHECK(at.of(body_v1({"a", "b"}), snappy_v1).refused_text.empty());
    }
    SECTION("it is") {
        rules.tenants.answer = limit_answer::reject;
        scene at{rules};
        CHECK(at.of(body_v1({"a", "b"}), snappy_v1).refused_text ==
              "refused 1 new series (1 sample): maxHourlySeries 1 is spent (1 series admitted), for example "
              "up{job=\"b\"}");
    }
}

TEST_CASE("without room for the symbols filled in nothing is translated") {
    scene at{limit_rules{}, 1 << 20};
    at.settings.upstream.protocol = upstream_protocol::v1;
    inflight_lease others{at.room};
    REQUIRE(others.grow(1));  // a request that is alone always fits
    const std::string text(100'000, 'x');
    const std::string refs = varint(1) + varint(2) + varint(3) + varint(4);
    std::string body = symbols_v2({text});
    for (int i = 0; i < 100; ++i) body += len_field(5, len_field(1, refs) + sample(1));  // 10 MB in version 1
    received from{at.room, compressed(compression::snappy, body)};
    const auto work = at.pool.take(from.memory);
    CHECK_FALSE(at.of(from, snappy_v2, *work));
    CHECK(work->rewritten.capacity() <= 1 << 20);
}

TEST_CASE("without room for the new body there is none, and nothing is left of the attempt") {
    scene at{{.global = {.hourly = 1}}, 150};
    inflight_lease others{at.room};
    REQUIRE(others.grow(50));
    received from{at.room, compressed(compression::snappy, body_v1({"a", "b"}))};
    CHECK_FALSE(at.of(from, snappy_v1));
    from.memory.release();
    CHECK(at.held.value() == 50);
}

}  // namespace
}  // namespace seriesgate::testing::outgoing_test
