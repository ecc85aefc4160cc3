#include "upstream/client.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a request is tried again only if a pooled connection broke before all of it had arrived") {
    using enum attempt_end;
    using enum connection_origin;
    struct row {
        attempt_end end;
        connection_origin origin;
        std::optional<upstream_error_reason> gives_up;
    };
    const auto [end, origin, gives_up] = GENERATE(values<row>({
        {unread, pooled, std::nullopt},
        {unread, opened, upstream_error_reason::connection_lost},
        {unanswered, pooled, upstream_error_reason::connection_lost},
        {unanswered, opened, upstream_error_reason::connection_lost},
        {broken_amid, pooled, upstream_error_reason::connection_lost},
        {broken_amid, opened, upstream_error_reason::connection_lost},
        {invalid, pooled, upstream_error_reason::invalid_answer},
        {invalid, opened, upstream_error_reason::invalid_answer},
        {timed_out, pooled, upstream_error_reason::timeout},
        {timed_out, opened, upstream_error_reason::timeout},
    }));
    CAPTURE(static_cast<int>(end), static_cast<int>(origin));
    CHECK((reason_to_give_up(end, origin) == gives_up));
}
