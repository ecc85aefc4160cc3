#include "upstream/headers.hpp"

#include <array>

#include "upstream/hop_fields.hpp"
#include "upstream/via.hpp"

namespace seriesgate {
namespace {

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

}  // namespace

void copy_end_to_end(const http::fields& from, http::fields& to, std::string_view tenant_header) {
    const hop_fields declared{from, tenant_header};
    for (const auto& field : from) {
        if (is_of_this_hop(field.name()) || declared.contain(field.name_string())) continue;
        to.insert(field.name(), field.name_string(), field.value());
    }
}

void drop_body_digests(http::fields& headers) {
    constexpr std::array names{"Content-MD5", "Digest", "Content-Digest", "Repr-Digest", "x-amz-content-sha256"};
    for (const auto* name : names) headers.erase(name);
}

std::size_t bytes_held(const http::fields& headers) {
    // Beast keeps each in an allocation of its own, linked into a list and a tree.
    constexpr std::size_t field_bytes = 96;
    std::size_t bytes = 0;
    for (const auto& field : headers) bytes += field.name_string().size() + field.value().size() + field_bytes;
    return bytes;
}

void add_via(http::fields& headers) {
    // A second header line means the same as a list in one.
    headers.insert(http::field::via, own_via());
}

}  // namespace seriesgate
