#include "http/header_check.hpp"

#include <fmt/format.h>

#include <string>

#include "config/units.hpp"
#include "core/counted.hpp"
#include "net/header_meter.hpp"

namespace seriesgate {
namespace {

reply wrong_method(std::string_view method, std::string_view allowed) {
    reply made =
        rejection(reject_reason::method_not_allowed, 405,
                  fmt::format("method not allowed: this path takes {}, not {}", allowed, shown_in_answer(method)));
    made.headers.set(http::field::allow, allowed);
    return made;
}

/// Names the paths that senders may have meant. @param routes perhaps only those of one kind.
reply no_such_path(std::string_view path, const route_table& routes) {
    std::string known;
    for (const route& each : routes.all())
        if (each.kind == route_kind::ingestion) known.append(known.empty() ? "" : ", ").append(each.path);
    const bool has_overview = routes.find("/") != nullptr;
    return rejection(reject_reason::unknown_path, 404,
                     fmt::format("no such path: {}; {}{}; {}", shown_in_answer(path),
                                 known.empty() ? "remote write goes to another address" : "remote write goes to ",
                                 known, has_overview ? "/ says what there is" : "nothing else is at this address"));
}

std::optional<reply> fault_in(const request_header& header, std::optional<std::uint64_t> content_length,
                              const route* to, const request_bounds& bounds) {
    if (const std::string_view fault = fault_of(header, bounds.tenant_header); !fault.empty()) {
        reply made = malformed_http(fault);
        made.close = true;
        return made;
    }
    if (const std::string_view fault = site_fault_of(header, bounds.hosts); !fault.empty())
        return rejection(reject_reason::forbidden, 403, std::string{fault});
    if (to == nullptr) return no_such_path(path_of(header.target()), bounds.routes);
    if (!is_allowed(header.method_string(), to->methods)) return wrong_method(header.method_string(), to->methods);
    if (!content_length) return std::nullopt;
    if (*content_length > bounds.body_bytes_max) return body_too_large(bounds.body_bytes_max, content_length);
    // Only what has come is taken: announced bytes that never come must not keep others out.
    if (!bounds.memory.has_room(*content_length)) return overloaded(bounds.memory.use());
    return std::nullopt;
}

}  // namespace

header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds) {
    const route* const to = bounds.routes.find(path_of(header.target()));
    return {.to = to, .rejected = fault_in(header, content_length, to, bounds)};
}

reply malformed_http(std::string_view fault) {
    return rejection(reject_reason::invalid_http, 400, std::string{"malformed HTTP: "}.append(fault));
}

reply header_too_large(std::uint64_t bytes_max) {
    return rejection(reject_reason::invalid_http, 431,
                     fmt::format("header larger than server.maxHeaderBytes ({}) or {} lines", format_size(bytes_max),
                                 header_lines_max));
}

reply body_too_large(std::uint64_t bytes_max, std::optional<std::uint64_t> announced) {
    const std::string size = announced ? counted(*announced, "byte") : std::string{"it goes on"};
    return rejection(
        reject_reason::too_large, 400,
        fmt::format("body larger than server.maxRequestBytes: {}, at most {}", size, counted(bytes_max, "byte")));
}

}  // namespace seriesgate
