#include "http/reply.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "config/units.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t shown_bytes_max = 100;

}  // namespace

std::string shown_in_answer(std::string_view text) {
    std::string made{text.substr(0, shown_bytes_max)};
    for (char& c : made)
        if (c < ' ' || c > '~') c = '?';
    return made + (text.size() > shown_bytes_max ? "..." : "");
}

reply text_reply(unsigned status, std::string_view line) {
    reply made{.status = status, .headers = {}, .body = std::string{line} + "\n"};
    made.headers.set(http::field::content_type, "text/plain; charset=utf-8");
    made.headers.set("X-Content-Type-Options", "nosniff");
    return made;
}

reply rejection(reject_reason reason, unsigned status, std::string_view line) {
    reply made = text_reply(status, line);
    made.rejected = reason;
    return made;
}

reply come_again(reply made) {
    made.headers.set(http::field::retry_after, "1");
    return made;
}

reply overloaded(const inflight_use& now) {
    return come_again(
        rejection(reject_reason::overloaded, 503,
                  fmt::format("over server.maxInflightBytes: {} of {} bytes are held, {} of {} for bodies; try again",
                              now.held, now.held_max, now.bodies, now.bodies_max)));
}

reply too_busy(std::chrono::nanoseconds waited, std::chrono::milliseconds wait_max) {
    const auto shown = std::chrono::duration_cast<std::chrono::milliseconds>(waited);
    return come_again(rejection(reject_reason::queue_delay, 503,
                                fmt::format("over server.maxQueueDelay ({}): requests have waited for {} before they "
                                            "were worked on; try again",
                                            format_duration(wait_max), format_duration(shown))));
}

reply out_of_memory() {
    return come_again(rejection(reject_reason::overloaded, 503, "out of memory, try again"));
}

}  // namespace seriesgate
