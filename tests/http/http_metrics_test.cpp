#include "http/http_metrics.hpp"

#include <cstddef>
#include <set>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("what the gate itself answered with 4xx are rejections of ingestion that are the sender's to mend") {
    http_metrics metrics;
    for (std::size_t i = 0; i < counter_by<reject_reason>::size; ++i)
        metrics.requests_rejected[static_cast<reject_reason>(i)].add(1u << i);
    std::uint64_t expected = 0;
    for (const auto reason : {reject_reason::malformed, reject_reason::too_large, reject_reason::unsupported_media,
                              reject_reason::method_not_allowed, reject_reason::refused, reject_reason::untranslated})
        expected += 1u << static_cast<unsigned>(reason);
    CHECK(metrics.rejected_4xx() == expected);
}

TEST_CASE("every reason and bound has a name of its own") {
    std::set<std::string_view> reasons;
    for (std::size_t i = 0; i < counter_by<reject_reason>::size; ++i)
        reasons.insert(name_of(static_cast<reject_reason>(i)));
    CHECK(reasons.size() == counter_by<reject_reason>::size);
    CHECK_FALSE(reasons.contains(""));
    std::set<std::string_view> bounds;
    for (std::size_t i = 0; i < counter_by<connection_bound>::size; ++i)
        bounds.insert(name_of(static_cast<connection_bound>(i)));
    CHECK(bounds.size() == counter_by<connection_bound>::size);
    CHECK_FALSE(bounds.contains(""));
    CHECK(name_of(reject_reason::malformed) == "malformed");
    CHECK(name_of(reject_reason::pages_held) == "pages_held");
    CHECK(name_of(connection_bound::per_peer) == "max_connections_per_peer");
}
