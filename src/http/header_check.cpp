#include "http/header_check.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "config/units.hpp"
#include "core/path_tenant.hpp"
#include "core/text.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {
namespace {

/// What a path takes; of none, what the gate does. Source: RFC 9110, sections 9.1 and 9.3.7.
std::string methods_of(const route* to) {
    if (to == nullptr) return "GET, HEAD, POST, OPTIONS";
    return std::string{to->kind == route_kind::ingestion ? "GET, HEAD, " : ""}.append(to->methods).append(", OPTIONS");
}

reply wrong_method(std::string_view method, const route& to) {
    reply made =
        rejection(reject_reason::method_not_allowed, 405,
                  fmt::format("method not allowed: this path takes {}, not {}", to.methods, shown_in_answer(method)));
    made.headers.set(http::field::allow, methods_of(&to));
    return made;
}

const route* find_route(const request_header& header, const route_table& routes, std::string& tenant) {
    if (const route* const found = routes.find(path_of(header.target()))) return found;
    const std::string meant = path_meant(header);
    const route* const found = routes.find(meant);
    return found != nullptr ? found : routes.find_by_tenant(meant, tenant);
}

/// Where path and header name two tenants, the store might believe the other one. Nothing if they do not.
std::optional<reply> two_tenants(const request_header& header, const header_verdict& of,
                                 std::string_view tenant_header) {
    const auto named = header.find(tenant_header);
    if (of.tenant.empty() || named == header.end()) return std::nullopt;
    const std::string_view other = named->value();
    const bool is_account = find_tenant_mark(of.to->path)->is_account;
    if (tenant_in_segment(other, is_account) == of.tenant) return std::nullopt;
    return rejection(reject_reason::invalid_http, 400,
                     fmt::format("two tenants: {} in the path, {} in {}", shown_in_answer(of.tenant),
                                 shown_in_answer(other), tenant_header));
}

/// The answer to what only asks whether somebody is there. OPTIONS is HAProxy's health check as it comes, of `/`; GET
/// of a path that is written to is Vector's, which wants 200.
std::optional<reply> answer_to_probe(const request_header& header, const route* to) {
    const bool is_reading = header.method() == http::verb::get || header.method() == http::verb::head;
    if (is_reading && to != nullptr && to->kind == route_kind::ingestion)
        return text_reply(200, "remote write is taken here, by POST");
    const std::string_view target = header.target();
    if (header.method() != http::verb::options || (to == nullptr && target != "/" && target != "*"))
        return std::nullopt;
    reply made{.status = 204};
    made.headers.set(http::field::allow, methods_of(to));
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
    if (auto answered = answer_to_probe(header, to)) return answered;
    if (to == nullptr) return no_such_path(path_of(header.target()), bounds.routes);
    if (!is_allowed(header.method_string(), to->methods)) return wrong_method(header.method_string(), *to);
    if (!content_length) return std::nullopt;
    if (*content_length > bounds.body_bytes_max) return body_too_large(bounds.body_bytes_max, content_length);
    // Only what has come is taken: announced bytes that never come must not keep others out.
    if (!bounds.memory.has_room(*content_length)) return overloaded(bounds.memory.use());
    return std::nullopt;
}

}  // namespace

header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds) {
    header_verdict made;
    made.to = find_route(header, bounds.routes, made.tenant);
    made.rejected = fault_in(header, content_length, made.to, bounds);
    if (!made.rejected) made.rejected = two_tenants(header, made, bounds.tenant_header);
    made.is_probe = made.rejected && is_success(made.rejected->status);
    return made;
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
