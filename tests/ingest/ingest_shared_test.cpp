#include "ingest/ingest_shared.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

/// Whose replicas have many requests on their way, all alike. @return how many were begun
std::int64_t begun(shared_stores& stores, std::int64_t bytes) {
    std::int64_t count = 0;
    while (stores.begin_copy(bytes)) ++count;
    return count;
}

}  // namespace

TEST_CASE("copies that nobody waits for are bounded by all that they take") {
    upstream_config upstream;
    upstream.discard = true;
    upstream_metrics metrics;
    shared_stores stores{upstream, metrics, 1};
    constexpr std::int64_t most = shared_stores::copies_bytes_max;
    SECTION("by their bytes") {
        CHECK(begun(stores, most / 2 - shared_stores::copy_bytes_each) == 2);
        CHECK(stores.copies_bytes == most);
        CHECK_FALSE(stores.begin_copy(0));
        stores.end_copy(most / 2 - shared_stores::copy_bytes_each);
        CHECK(stores.copies_bytes == most / 2);
        CHECK(stores.copies == 1);
        CHECK(stores.begin_copy(0));
    }
    SECTION("and by their number") {
        CHECK(begun(stores, 1) == shared_stores::copies_max);
        CHECK(stores.copies == shared_stores::copies_max);
        CHECK(stores.copies_bytes == shared_stores::copies_max * (shared_stores::copy_bytes_each + 1));
    }
}
