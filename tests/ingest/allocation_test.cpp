#include "support/allocations.hpp"

#include "ingest/ingest_parts.hpp"
#include "ingest/ingestor.hpp"
#include "ingest/outgoing.hpp"
#include "ingest/requests.hpp"
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
