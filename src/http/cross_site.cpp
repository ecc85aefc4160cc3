#include "http/cross_site.hpp"

#include <algorithm>
#include <cstddef>

#include "core/text.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {
namespace {

bool is_listed(std::string_view authority, std::string_view usual_port, std::span<const std::string> hosts) {
    return std::ranges::any_of(hosts,
                               [&](const std::string& each) { return is_same_host(authority, each, usual_port); });
}

/// Whether the origin is this gate, under its Host or a name in `hosts`.
bool is_own_origin(std::string_view origin, std::string_view host, std::span<const std::string> hosts) {
    const std::size_t end = origin.find("://");
    if (end == std::string_view::npos) return false;  // "null": an opaque origin
    const std::string_view authority = origin.substr(end + 3);
    const std::string_view usual_port = origin.starts_with("https:") ? ":443" : ":80";
    return is_same_host(authority, host, usual_port) || is_listed(authority, usual_port, hosts);
}

}  // namespace

std::string_view site_fault_of(const request_header& header, std::span<const std::string> hosts) {
    const auto site = header.find("Sec-Fetch-Site"), origin = header.find(http::field::origin);
    if (site == header.end() && origin == header.end()) return {};
    const std::string_view host = field_value(header, http::field::host);
    const auto mode = header.find("Sec-Fetch-Mode");
    const bool is_link =
        mode != header.end() && mode->value() == "navigate" && is_allowed(header.method_string(), "GET, HEAD");
    if (site != header.end() && site->value() == "cross-site" && !is_link) return "sent by a page of another site";
    if (origin != header.end() && !is_own_origin(origin->value(), host, hosts))
        return "sent by a page of another origin than this host, which server.hosts does not name";
    if (!hosts.empty() && !is_listed(host, ":443", hosts) && !is_listed(host, ":80", hosts))
        return "a browser's, to a host that server.hosts does not name";
    return {};
}

}  // namespace seriesgate
