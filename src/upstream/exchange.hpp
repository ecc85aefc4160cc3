/// One request and its answer on one connection.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "net/timed_stream.hpp"
#include "upstream/message.hpp"
#include "upstream/retry.hpp"

namespace seriesgate {

struct attempt {
    attempt_end end = attempt_end::unanswered;
    std::string why;          ///< it is not answered: what the system says, or what came; empty if its time was over
    upstream_answer answer;   ///< if it is answered
    bool reusable = false;    ///< the connection, for another request
    bool tls_failed = false;  ///< it is TLS that has failed, and says why; not only a connection that was cut off
};

/// Sends and reads until there is an answer, at most until the limit.
/// @param stream connected; everything given must outlive the exchange.
net::awaitable<attempt> exchange(timed_stream& stream, const upstream_message& message,
                                 std::chrono::steady_clock::time_point limit);

}  // namespace seriesgate
