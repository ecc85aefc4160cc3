#include "upstream/upstream_error.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>

#include "support/catch.hpp"

using namespace seriesgate;

TEST_CASE("a connect that fails is told by what the system says") {
    struct row {
        error_code error;
        upstream_error_reason reason;
    };
    const auto [error, reason] = GENERATE(values<row>({
        {net::error::connection_refused, upstream_error_reason::connection_refused},
        {boost::beast::error::timeout, upstream_error_reason::connect_timeout},
        {net::error::timed_out, upstream_error_reason::connect_timeout},
        {net::error::host_unreachable, upstream_error_reason::no_route},
        {net::error::network_unreachable, upstream_error_reason::no_route},
        {net::error::network_down, upstream_error_reason::no_route},
        {net::error::connection_reset, upstream_error_reason::connection_lost},
        {net::error::no_descriptors, upstream_error_reason::connect_failed},
        {net::error::access_denied, upstream_error_reason::connect_failed},
    }));
    CAPTURE(error.message());
    CHECK(name_of(reason_of_connect(error)) == name_of(reason));
}
