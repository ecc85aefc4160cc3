#include "upstream/headers.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <string>

namespace seriesgate {
namespace {

constexpr std::string_view via = "1.1 seriesgate";

bool is_of_this_hop(http::field name) {
    switch (name) {
        case http::field::connection:
        case http::field::keep_alive:
        case http::field::proxy_connection:
        case http::field::proxy_authenticate:
        case http::field::proxy_authorization:
        case http::field::te:
        case http::field::trailer:
        case http::field::transfer_encoding:
        case http::field::upgrade:
        case http::field::host:
        case http::field::content_length:
        case http::field::expect:
            return true;
        default:
            return false;
    }
}

/// Whether a Connection header names the field. The list is short and mostly absent.
bool is_named_by_connection(const http::fields& headers, boost::beast::string_view name) {
    const auto [first, last] = headers.equal_range(http::field::connection);
    return std::any_of(first, last, [&](const auto& field) { return http::token_list{field.value()}.exists(name); });
}

}  // namespace

void copy_end_to_end(const http::fields& from, http::fields& to) {
    const bool has_connection = from.find(http::field::connection) != from.end();
    for (const auto& field : from) {
        if (is_of_this_hop(field.name())) continue;
        if (has_connection && is_named_by_connection(from, field.name_string())) continue;
        to.insert(field.name(), field.name_string(), field.value());
    }
}

void drop_body_digests(http::fields& headers) {
    constexpr std::array names{"Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "x-amz-content-sha256"};
    for (const auto* name : names) headers.erase(name);
}

void add_via(http::fields& headers) {
    // A second header line means the same as a list in one.
    headers.insert(http::field::via, via);
}

}  // namespace seriesgate
