#include "http/request_head.hpp"

#include <algorithm>

#include "core/ascii.hpp"
#include "net/transfer_coding.hpp"

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

/// One that is repeated as it is does no harm.
bool names_two_tenants(const request_header& header, std::string_view tenant_header) {
    const auto [first, last] = header.equal_range(tenant_header);
    return std::any_of(first, last, [first = first](const auto& line) { return line.value() != first->value(); });
}

}  // namespace

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

bool expects_continue(const request_header& header) {
    if (header.version() == 10) return false;  // it would take the word for the answer
    const auto expect = header.find(http::field::expect);
    return expect != header.end() && equal_ignoring_case(expect->value(), "100-continue");
}

}  // namespace seriesgate
