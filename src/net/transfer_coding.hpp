/// What Beast leaves open about how long a body is, in messages of both directions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/text.hpp"
#include "net/asio.hpp"
#include "net/http_fields.hpp"

namespace seriesgate {

/// Why the end of a message's body is in doubt, as one line; empty if it is not. A message with a length and a coding,
/// or with two lengths, Beast does not parse. Source: RFC 9112, section 6.1.
/// @param version 10 or 11
inline std::string_view coding_fault(const http::fields& headers, unsigned version) {
    const auto coding = headers.find(http::field::transfer_encoding);
    if (coding == headers.end()) return {};
    // Beast before 1.92 believes that a request with another coding has no body.
    if (!equal_ignoring_case(coding->value(), "chunked")) return "Transfer-Encoding other than chunked";
    return version == 10 ? "Transfer-Encoding with HTTP/1.0" : "";
}

/// A parser's on_chunk_header. Beast takes every byte in a quoted extension, also one that ends the line to other
/// readers. Source: RFC 9110, section 5.6.4.
inline void check_chunk_extension(std::uint64_t /*size*/, boost::beast::string_view text, error_code& error) {
    const auto is_control = [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    };
    if (std::ranges::any_of(text, is_control)) error = http::error::bad_chunk_extension;
}

}  // namespace seriesgate
