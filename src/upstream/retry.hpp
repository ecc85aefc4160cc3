/// When a request is sent again. Retries belong to the sender, but for one case.
#pragma once

#include <cstdint>
#include <optional>

#include "upstream/upstream_error.hpp"

namespace seriesgate {

enum class connection_origin : std::uint8_t { opened, pooled };

/// How one try on one connection ended.
enum class attempt_end : std::uint8_t {
    answered,     ///< with a full answer
    timed_out,    ///< whether or not an answer had begun
    unanswered,   ///< the connection broke before the first byte of an answer
    broken_amid,  ///< the connection broke amid an answer
    invalid,      ///< something came that is no answer
};

/// A connection out of the pool may have been closed while nobody looked: the upstream has not seen the request. Only
/// then it is sent again, once, for the next connection is a new one.
/// @return why there is no answer; nothing for another try.
/// Source: RFC 9112, section 9.3.1.
constexpr std::optional<upstream_error_reason> reason_to_give_up(attempt_end end, connection_origin origin) noexcept {
    switch (end) {
        case attempt_end::timed_out:
            return upstream_error_reason::timeout;
        case attempt_end::invalid:
            return upstream_error_reason::invalid_answer;
        case attempt_end::unanswered:
            if (origin == connection_origin::pooled) return std::nullopt;
            break;
        default:
            break;
    }
    return upstream_error_reason::connection_lost;
}

}  // namespace seriesgate
