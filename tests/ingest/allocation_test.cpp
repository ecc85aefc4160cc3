#include "support/allocations.hpp"

#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "ingest/ingest_parts.hpp"
#include "ingest/ingestor.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/requests.hpp"
#include "ingest/series_sampler.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/outcome.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a request that goes on unchanged costs one allocation, for sharing its body") {
    config settings;
    gauge held;
    inflight_room room{held, 1 << 20, 0};
    series_limiter limiter{{}, noon};
    label_hash_cache labels;
    work_pool pool{settings, hash_key::known_to_all(), labels};
    const std::string sent = compressed(compression::snappy, body_v1({"a", "b", "c"}));
    for (int i = 0; i < 3; ++i) {
        received from{room, sent};
        std::optional<outgoing> made;
        const auto all = allocations_of([&] {
            const auto work = pool.take(from.memory);
            const auto decoded = work->codec.decode(compression::snappy, from.request.body, 1 << 20, work->decoding);
            if (work->planning.read(*decoded, "", protocol::v1).code != wire_errc::none) return;
            const auto decided = work->planning.decide(limiter, noon, "");
            const body_format kind;
            const decided_request whole{
                .from = from.request, .kind = kind, .tenant = "", .decoded = *decoded, .decided = *decided};
            made = make_outgoing(whole, *work, limiter, settings.upstream);
        });
        REQUIRE(made);
        CHECK(made->forward == body_action::unchanged);
        if (i > 0) CHECK(all.count == 1);  // the first one fills the pool
    }
}

TEST_CASE("what has been received counts as failed where memory ends on the way to the store") {
    config settings;
    settings.upstream.store.backends = {{.url = "http://127.0.0.1:1/w", .host = "127.0.0.1", .target = "/w"}};
    ingest_parts with{settings};
    ingestor tested{with.io, with.shared};
    gauge held;
    inflight_room room{held, 1 << 30, 0};
    for (const unsigned status : {502u, 503u}) {  // the first one fills the pool, and finds no store
        received from{room, compressed(compression::snappy, body_v1({"a", "b"}))};
        from.headers.insert("X-Pad", std::string(60'000, 'x'));  // which the message copies
        if (status == 503) refused_allocation = 60'000;
        const reply made = result_of(with.io, tested.answer(from.request));
        refused_allocation = static_cast<std::size_t>(-1);
        with.io.run();
        CHECK(made.status == status);
    }
    CHECK(with.metrics.samples_received.value() == 4);
    CHECK(with.metrics.samples_stored.value() == 0);
    CHECK(with.metrics.samples_failed.value() == 4);
}

namespace {

/// A request whose series are decided, and a sampler that has yet to take them.
struct sampled_request {
    series_limiter limiter;
    planner planning{hash_key::known_to_all()};
    std::string body{};
    plan decided{};
    cardinality_tracker tracker{std::vector<std::string>{"job"}, hash_key::known_to_all(), noon};
    refused_ring refused{};
    series_sampler sampler{tracker, refused, limiter};

    sampled_request(int count, std::uint64_t series_max) : limiter({.global = {.hourly = series_max}}, noon) {
        for (int i = 0; i < count; ++i)
            body += series({label("__name__", "up"), label("long", std::string(60, 'x')), label("n", std::to_string(i)),
                            sample(1)});
        decided = *planning(body, limiter, noon);
    }

    void take() { sampler.take(decided, planning, body, protocol::v1, {.address = "10.0.0.3"}, noon); }

    /// How many are counted or missed; nothing if none is counted.
    [[nodiscard]] std::optional<std::uint64_t> noted(series_event kind) {
        const cardinality_tables tables = tracker.tables(kind, cardinality_window::hourly);
        if (tables.total() == 0) return std::nullopt;
        return tables.total() + tables.error_of(tables.metrics().in_all().all()[0]);
    }
};

}  // namespace

TEST_CASE("when memory ends amid a request only those of its series are missed that are not counted") {
    constexpr int several_batches = 1'500;
    int partly = 0;
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        sampled_request at{several_batches, 0};
        has_failed = fails_once(after, [&] { at.take(); });
        at.sampler.catch_up();
        CAPTURE(after);
        if (const auto noted = at.noted(series_event::newly_admitted)) {
            ++partly;
            CHECK(*noted == several_batches);
        }
    }
    CHECK(partly > 1);
}

TEST_CASE("series that are counted are not missed when there is no memory to show them") {
    std::optional<std::uint64_t> noted_at_last;
    bool has_failed = true;
    for (std::uint64_t after = 0; has_failed; ++after) {
        sampled_request at{4, 1};
        at.take();
        has_failed = fails_once(after, [&] { at.sampler.catch_up(); });
        if (has_failed) noted_at_last = at.noted(series_event::refused);  // in the end all are counted
    }
    CHECK(noted_at_last == 3);
}
