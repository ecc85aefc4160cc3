#include "upstream/upstream_error.hpp"

#include <array>
#include <boost/asio/error.hpp>
#include <boost/beast/core/error.hpp>
#include <cassert>
#include <cstddef>

namespace seriesgate {
namespace {

/// In the order of the enumerators.
constexpr std::array<std::string_view, static_cast<std::size_t>(upstream_error_reason::count_)> reason_names{
    "dns", "connection_refused", "connect_timeout", "no_route", "connect_failed", "connection_lost",
    "tls", "invalid_answer",     "timeout",         "busy",     "unauthorized"};

}  // namespace

std::string_view name_of(upstream_error_reason reason) noexcept {
    assert(reason < upstream_error_reason::count_);
    return reason_names[static_cast<std::size_t>(reason)];
}

upstream_error_reason reason_of_connect(error_code error) noexcept {
    if (error == net::error::connection_refused) return upstream_error_reason::connection_refused;
    if (error == boost::beast::error::timeout || error == net::error::timed_out)
        return upstream_error_reason::connect_timeout;
    // Accepted, and reset before we have looked: it depends on the moment whether connect() or the first write says so.
    if (error == net::error::connection_reset) return upstream_error_reason::connection_lost;
    const bool is_without_route = error == net::error::host_unreachable || error == net::error::network_unreachable ||
                                  error == net::error::network_down;
    return is_without_route ? upstream_error_reason::no_route : upstream_error_reason::connect_failed;
}

}  // namespace seriesgate
