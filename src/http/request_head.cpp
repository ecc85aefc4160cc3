#include "http/request_head.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "core/text.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {
namespace {

/// Characters of a host and port. Source: RFC 3986, section 3.2.2.
constexpr std::string_view host_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%!$&'()*+,;=:[]";

std::string_view host_fault(const request_header& header) {
    const auto hosts = header.count(http::field::host);
    if (hosts > 1) return "more than one Host";
    if (hosts == 0) return header.version() == 11 ? "HTTP/1.1 without Host" : "";
    const std::string_view value = header.find(http::field::host)->value();
    return value.find_first_not_of(host_characters) == std::string_view::npos ? "" : "Host is no host";
}

/// Equal duplicates are harmless.
bool names_two_tenants(const request_header& header, std::string_view tenant_header) {
    const auto [first, last] = header.equal_range(tenant_header);
    return std::any_of(first, last, [first = first](const auto& line) { return line.value() != first->value(); });
}

/// Compares hosts; a missing port means the scheme's usual one: `gate:80` equals the host of `http://gate`.
bool is_same_host(std::string_view authority, std::string_view other, std::string_view usual_port) {
    const auto without_port = [usual_port](std::string_view of) {
        return of.ends_with(usual_port) ? of.substr(0, of.size() - usual_port.size()) : of;
    };
    return equal_ignoring_case(without_port(authority), without_port(other));
}

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

constexpr std::string_view unreserved_characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

/// Decodes a sequence such as "%61", if its character needs no encoding. Source: RFC 3986, section 2.3.
std::optional<char> unreserved_in(std::string_view encoded) {
    if (encoded.size() < 3 || encoded.front() != '%') return std::nullopt;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(encoded.data() + 1, encoded.data() + 3, value, 16);
    if (error != std::errc{} || end != encoded.data() + 3) return std::nullopt;
    const char c = static_cast<char>(value);
    return unreserved_characters.find(c) == std::string_view::npos ? std::nullopt : std::optional{c};
}

/// Turns `http://gate/write` into `/write` if the authority is this host. Other targets stay unchanged.
std::string_view without_authority(std::string_view target, const request_header& header) {
    const auto scheme_end = target.find("://");
    if (target.starts_with('/') || scheme_end == std::string_view::npos) return target;
    const std::string_view scheme = target.substr(0, scheme_end);
    const bool is_https = equal_ignoring_case(scheme, "https");
    if (!is_https && !equal_ignoring_case(scheme, "http")) return target;
    const std::string_view left = target.substr(scheme_end + 3);
    const std::string_view authority = left.substr(0, left.find('/'));
    const auto host = header.find(http::field::host);
    const bool is_ours = host == header.end() || is_same_host(authority, host->value(), is_https ? ":443" : ":80");
    if (authority.empty() || authority.find('@') != std::string_view::npos || !is_ours) return target;
    return authority.size() == left.size() ? "/" : left.substr(authority.size());
}

}  // namespace

std::string path_meant(const request_header& header) {
    const std::string_view written = without_authority(path_of(header.target()), header);
    std::string meant;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const auto plain = unreserved_in(written.substr(i));
        if (written[i] == '/' && meant.ends_with('/')) continue;
        meant += plain.value_or(written[i]);
        if (plain) i += 2;
    }
    if (meant.size() > 1 && meant.ends_with('/')) meant.pop_back();
    return meant;
}

std::string_view path_of(std::string_view target) {
    return target.substr(0, target.find('?'));
}

std::string_view query_of(std::string_view target) {
    const auto at = target.find('?');
    return at == std::string_view::npos ? std::string_view{} : target.substr(at + 1);
}

bool is_allowed(std::string_view method, std::string_view list) {
    for (;;) {
        const std::size_t end = list.find(", ");
        if (list.substr(0, end) == method) return true;
        if (end == std::string_view::npos) return false;
        list.remove_prefix(end + 2);
    }
}

std::string_view fault_of(const request_header& header, std::string_view tenant_header) {
    if (const std::string_view fault = coding_fault(header, header.version()); !fault.empty()) return fault;
    if (names_two_tenants(header, tenant_header)) return "two tenant headers that differ";
    return host_fault(header);
}

std::string_view site_fault_of(const request_header& header, std::span<const std::string> hosts) {
    const auto site = header.find("Sec-Fetch-Site"), origin = header.find(http::field::origin);
    if (site == header.end() && origin == header.end()) return {};
    const auto host_line = header.find(http::field::host);
    const std::string_view host = host_line == header.end() ? std::string_view{} : std::string_view{host_line->value()};
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

bool expects_continue(const request_header& header) {
    if (header.version() == 10) return false;  // HTTP/1.0 would take 100 for the answer
    const auto expect = header.find(http::field::expect);
    return expect != header.end() && equal_ignoring_case(expect->value(), "100-continue");
}

}  // namespace seriesgate
