#include "support/allocations.hpp"

#include <optional>
#include <string>

#include "ingest/outgoing.hpp"
#include "ingest/requests.hpp"
#include "ingest/work_pool.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("a request that goes on unchanged costs one allocation, for sharing its body") {
    config settings;
    gauge held;
    inflight_room room{held, 1 << 20, 0};
    series_limiter limiter{{}, noon};
    work_pool pool{settings, hash_key::known_to_all()};
    const std::string sent = compressed(compression::snappy, body_v1({"a", "b", "c"}));
    for (int i = 0; i < 3; ++i) {
        received from{room, sent};
        std::optional<outgoing> made;
        const auto all = allocations_of([&] {
            const auto work = pool.take(from.memory);
            const auto decoded = work->codec.decode(compression::snappy, from.request.body, 1 << 20, work->decoding);
            if (work->planning.read(*decoded, "", protocol::v1).code != wire_errc::none) return;
            const auto decided = work->planning.decide(limiter, noon, "");
            const media kind;
            const decided_request whole{
                .from = from.request, .kind = kind, .tenant = "", .decoded = *decoded, .decided = *decided};
            made = make_outgoing(whole, *work, limiter, settings.upstream);
        });
        REQUIRE(made);
        CHECK(made->forward == forwarding::unchanged);
        if (i > 0) CHECK(all.count == 1);  // the first one fills the pool
    }
}
