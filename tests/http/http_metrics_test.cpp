#include "http/http_metrics.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

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
    std::set<std::string_view> waits;
    for (std::size_t i = 0; i < counter_by<connection_wait>::size; ++i)
        waits.insert(name_of(static_cast<connection_wait>(i)));
    CHECK(waits == std::set<std::string_view>{"request", "reading", "ending"});
    CHECK(name_of(reject_reason::malformed) == "malformed");
    CHECK(name_of(reject_reason::invalid_http) == "invalid_http");
    CHECK(name_of(reject_reason::queue_delay) == "queue_delay");
    CHECK(name_of(reject_reason::untranslated) == "untranslated");
    CHECK(name_of(reject_reason::left_out) == "left_out");
    CHECK(name_of(reject_reason::pages_held) == "pages_held");
    CHECK(name_of(reject_reason::unauthenticated) == "unauthenticated");
    CHECK(name_of(reject_reason::forbidden) == "forbidden");
    CHECK(name_of(reject_reason::passwords_held) == "passwords_held");
    CHECK(name_of(connection_bound::per_peer) == "max_connections_per_peer");
}
