/// When a request is sent again. Retries belong to the sender, but for one case.
#pragma once

#include <cstdint>
#include <optional>

#include "upstream/upstream_error.hpp"

namespace seriesgate {

enum class connection_origin : std::uint8_t { opened, pooled };

/// How one try on one connection ended; what breaks is the connection.
enum class attempt_end : std::uint8_t {
    answered,     ///< with a full answer
    timed_out,    ///< whether or not an answer had begun
    unread,       ///< it broke before the first byte of an answer, and the request surely had not all arrived
    unanswered,   ///< it broke likewise, and the request may have arrived
    broken_amid,  ///< it broke amid an answer
    invalid,      ///< something came that is no answer
};

/// A connection out of the pool may have been closed while nobody looked: then the end that the upstream has sent comes
/// before the reset that the request is answered with, and that end does not confirm the request: nobody has worked on
/// it. Only then, or if it could not all be written, it is sent again, once, for the next connection is a new one. A
/// store that was killed over the request has got all of it, and may have stored it; and after a reset without an end
/// nobody can tell.
/// @return why there is no answer; nothing for another try.
/// Source: RFC 9112, section 9.3.1.
constexpr std::optional<upstream_error_reason> reason_to_give_up(attempt_end end, connection_origin origin) noexcept {
    switch (end) {
        case attempt_end::timed_out:
            return upstream_error_reason::timeout;
        case attempt_end::invalid:
            return upstream_error_reason::invalid_answer;
        case attempt_end::unread:
            if (origin == connection_origin::pooled) return std::nullopt;
            break;
        default:
            break;
    }
    return upstream_error_reason::connection_lost;
}

}  // namespace seriesgate
