#include "http/reply.hpp"

#include <utility>

namespace seriesgate {

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

reply overloaded() {
    return come_again(rejection(reject_reason::overloaded, 503,
                                "over server.maxInflightBytes: too much is being worked on, try again"));
}

}  // namespace seriesgate
