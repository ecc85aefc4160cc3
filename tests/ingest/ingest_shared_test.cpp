#include "ingest/ingest_shared.hpp"

#include <utility>
#include <vector>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// Whose replicas have many requests on their way, all alike.
std::vector<shared_stores::copy_room> begun(shared_stores& stores, std::int64_t bytes) {
    std::vector<shared_stores::copy_room> held;
    while (auto room = stores.begin_copy(bytes)) held.push_back(std::move(room));
    return held;
}

}  // namespace

TEST_CASE("copies that nobody waits for are bounded by all that they take") {
    upstream_config upstream;
    upstream.discard = true;
    upstream_metrics metrics;
    shared_stores stores{upstream, metrics, 1};
    constexpr std::int64_t most = shared_stores::copies_bytes_max;
    SECTION("by their bytes") {
        auto held = begun(stores, most / 2 - shared_stores::copy_bytes_each);
        CHECK(held.size() == 2);
        CHECK(stores.copies_bytes == most);
        CHECK_FALSE(stores.begin_copy(0));
        held.pop_back();
        CHECK(stores.copies_bytes == most / 2);
        CHECK(stores.copies == 1);
        CHECK(stores.begin_copy(0));
    }
    SECTION("and by their number") {
        const auto held = begun(stores, 1);
        CHECK(held.size() == shared_stores::copies_max);
        CHECK(stores.copies == shared_stores::copies_max);
        CHECK(stores.copies_bytes == shared_stores::copies_max * (shared_stores::copy_bytes_each + 1));
    }
}
