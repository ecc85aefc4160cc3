/// What a handler wants the session to answer.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "upstream/net.hpp"

namespace seriesgate {

struct reply {
    unsigned status = 200;
    http::fields headers{};
    std::string body{};
    /// Say goodbye after this answer.
    bool close = false;
};

/// A short text, dressed as Go's http.Error does, so that it looks like any other receiver's answer.
/// @param line without a line end; senders log only the first line, at most 1 KiB.
inline reply text_reply(unsigned status, std::string_view line) {
    reply made{.status = status, .headers = {}, .body = std::string{line} + "\n"};
    made.headers.set(http::field::content_type, "text/plain; charset=utf-8");
    made.headers.set("X-Content-Type-Options", "nosniff");
    return made;
}

}  // namespace seriesgate
