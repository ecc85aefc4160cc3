/// What a handler wants the session to answer.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/http_metrics.hpp"
#include "http/inflight.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// Whether a status is one of those that say that all went well.
constexpr bool is_success(unsigned status) noexcept {
    return status >= 200 && status <= 299;
}

struct reply {
    unsigned status = 200;
    http::fields headers{};
    std::string body{};
    /// Say goodbye after this answer.
    bool close = false;
    /// Why the gate itself answers with an error, if it does. The session counts it.
    std::optional<reject_reason> rejected{};
    /// In place of `body`: one text that many answers share and none copies.
    std::shared_ptr<const std::string> shared_body{};
    /// The answer to HEAD where nobody has made what GET would get: without Content-Length, which is optional then.
    /// Source: RFC 9110, section 9.3.2.
    bool length_unknown = false;

    [[nodiscard]] std::string_view text() const noexcept { return shared_body ? *shared_body : body; }
};

/// A short text, dressed as Go's http.Error does, so that it looks like any other receiver's answer.
/// @param line without a line end; senders log only the first line, at most 1 KiB.
reply text_reply(unsigned status, std::string_view line);

/// What a sender wrote, as an answer may show it: of one line, in ASCII, and not long.
std::string shown_in_answer(std::string_view text);

/// An answer to a request that is rejected.
reply rejection(reject_reason reason, unsigned status, std::string_view line);

/// The same answer, with the word that the sender may come again in a second.
reply come_again(reply made);

/// The answer when maxInflightBytes is reached: the sender keeps the data and comes again.
reply overloaded(const inflight_use& now);

/// The answer to what would have to wait for too long: the sender comes again.
/// @param waited what came last.
reply too_busy(std::chrono::nanoseconds waited, std::chrono::milliseconds wait_max);

/// The same when the process gets no more memory.
reply out_of_memory();

}  // namespace seriesgate
