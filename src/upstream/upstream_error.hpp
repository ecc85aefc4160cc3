/// Why there is no answer of the upstream that could be passed on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/asio.hpp"

namespace seriesgate {

enum class upstream_error_reason : std::uint8_t {
    dns,                 ///< 502: its name does not resolve
    connection_refused,  ///< 502: nobody listens there
    connect_timeout,     ///< 502: nobody answered when we tried to connect
    no_route,            ///< 502: no way to its host or network
    connect_failed,      ///< 502: another error of the system's while connecting
    connection_lost,     ///< 502: connected, but closed or reset before the end of an answer
    tls,                 ///< 502: connected, but TLS did not come about
    invalid_answer,      ///< 502: not HTTP, or nothing that could be passed on
    timeout,             ///< 504: no full answer within upstream.timeout
    busy,                ///< 503: no connection to be had within that: upstream.maxConnections are in use
    unauthorized,        ///< 503: it answers 401 or 403, to credentials of ours
    count_
};
/// The value of the label `reason`.
std::string_view name_of(upstream_error_reason reason) noexcept;

struct upstream_error {
    upstream_error_reason reason;
    std::string text;       ///< one line, with what the system says: `connecting to 127.0.0.1:8428: Connection refused`
    std::string backend{};  ///< the address of the store whose fault it is, as logs and metrics call it
    /// It is certain that the store has not worked on the request, so that it can be sent to another address.
    bool untouched = false;
};

/// What a connect that failed means.
upstream_error_reason reason_of_connect(error_code error) noexcept;

}  // namespace seriesgate
