#include "http/header_check.hpp"

#include <string>

namespace seriesgate {
namespace {

reply wrong_method(std::string_view allowed) {
    reply made = rejection(reject_reason::method_not_allowed, 405,
                           std::string{"method not allowed: this path takes "}.append(allowed));
    made.headers.set(http::field::allow, allowed);
    return made;
}

std::optional<reply> fault_in(const request_header& header, std::optional<std::uint64_t> content_length,
                              const route* to, const request_bounds& bounds) {
    if (const std::string_view fault = fault_of(header); !fault.empty()) {
        reply made = malformed_http(fault);
        made.close = true;
        return made;
    }
    if (to == nullptr) return rejection(reject_reason::unknown_path, 404, "no such path: / says what there is");
    if (!is_allowed(header.method_string(), to->methods)) return wrong_method(to->methods);
    if (!content_length) return std::nullopt;
    if (*content_length > bounds.body_bytes_max) return body_too_large();
    // Only what has come is taken: announced bytes that never come must not keep others out.
    if (!bounds.memory.has_room(*content_length)) return overloaded();
    return std::nullopt;
}

}  // namespace

header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds) {
    const route* const to = bounds.routes.find(path_of(header.target()));
    return {.to = to, .rejected = fault_in(header, content_length, to, bounds)};
}

reply malformed_http(std::string_view fault) {
    return rejection(reject_reason::malformed, 400, std::string{"malformed HTTP: "}.append(fault));
}

reply body_too_large() {
    return rejection(reject_reason::too_large, 400, "body larger than server.maxRequestBytes");
}

}  // namespace seriesgate
