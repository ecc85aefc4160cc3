/// Beast's header fields, and checks of fields, codings and header sizes. Reads and writes no stream.
#pragma once

#include <openssl/evp.h>

#include <algorithm>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/bytes.hpp"
#include "core/text.hpp"
#include "net/async.hpp"

namespace seriesgate {

namespace http = boost::beast::http;

// --- Names in header fields. core/text.hpp compares two names, and reads lists.

constexpr bool name_before(std::string_view one, std::string_view other) noexcept {
    return std::ranges::lexicographical_compare(one, other, {}, lower, lower);
}

/// The field's value; empty without one. @param name text or http::field.
template <class Name>
std::string_view field_value(const http::fields& headers, const Name& name) {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string_view{} : std::string_view{found->value()};
}

constexpr bool is_success(unsigned status) noexcept {
    return status >= 200 && status <= 299;
}

/// Whether senders send the data again after this status. After any other error they drop it.
constexpr bool is_retriable(unsigned status) noexcept {
    return status >= 500 || status == 429;
}

/// With padding, in one line. Source: RFC 4648, section 4.
inline std::string to_base64(std::string_view text) {
    std::string coded((text.size() + 2) / 3 * 4, '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(coded.data()), reinterpret_cast<const unsigned char*>(text.data()),
                    static_cast<int>(text.size()));
    return coded;
}

/// `Basic` with the user's password, or `Bearer` with a token. Sources: RFC 7617, section 2; RFC 6750, section 2.1.
/// @param user empty for a token.
inline std::string authorization_text(const std::string& user, const std::string& secret) {
    return user.empty() ? "Bearer " + secret : "Basic " + to_base64(user + ":" + secret);
}

// --- Errors of a connection.

/// Whether the peer has closed the connection.
inline bool is_end_of_stream(error_code error) {
    return error == net::error::eof || error == http::error::end_of_stream || error == http::error::partial_message;
}

/// Why there is no answer.
inline std::string broken_text(error_code error) {
    if (error == boost::beast::error::timeout) return "no answer in time";
    return is_end_of_stream(error) ? "it closed the connection" : error.message();
}

/// Whether the bytes received are at fault, not the connection.
inline bool is_invalid_http(error_code error) {
    return error.category() == http::make_error_code(http::error::bad_method).category() && !is_end_of_stream(error);
}

// --- Body framing that Beast does not check.

/// Why the end of a message's body is ambiguous, as one line; empty if it is not. Beast itself rejects two lengths, or
/// a length with a coding. Source: RFC 9112, section 6.1.
/// @param version 10 or 11
inline std::string_view coding_fault(const http::fields& headers, unsigned version) {
    const auto coding = headers.find(http::field::transfer_encoding);
    if (coding == headers.end()) return {};
    // Beast before 1.92 assumes no body for a request with another coding.
    if (!equal_ignoring_case(coding->value(), "chunked")) return "Transfer-Encoding other than chunked";
    return version == 10 ? "Transfer-Encoding with HTTP/1.0" : "";
}

/// For a parser's on_chunk_header. Beast accepts all bytes in a quoted extension, even line ends, which other readers
/// treat as the end of the line. Source: RFC 9110, section 5.6.4.
inline void check_chunk_extension(std::uint64_t /*size*/, boost::beast::string_view text, error_code& error) {
    const auto is_control = [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return (byte < 0x20 && byte != '\t') || byte == 0x7f;
    };
    if (std::ranges::any_of(text, is_control)) error = http::error::bad_chunk_extension;
}

// --- Bounds of a header.

inline constexpr std::size_t header_bytes_max = 64 * 1024;
/// A parsed line costs about a hundred bytes, however short it is. Other proxies and stores have the same bound.
inline constexpr std::size_t header_lines_max = 100;

/// Counts a header's bytes and lines as they arrive, and finds its end.
class header_meter {
    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    std::size_t lines_ = 0;
    std::size_t line_bytes_ = 0;
    bool line_is_return_ = false;
    bool complete_ = false;

  public:
    explicit header_meter(std::size_t bytes_max = header_bytes_max) : bytes_max_(bytes_max) {}

    /// Counts bytes up to the header's end. @return http::error::header_limit if the header is too large; bad_obs_fold
    /// for a folded line, since readers disagree about its meaning. Source: RFC 9112, section 5.2.
    boost::system::error_code take(std::string_view fresh) noexcept {
        while (!fresh.empty() && !complete_) {
            const std::size_t end = fresh.find('\n');
            const std::string_view line = fresh.substr(0, end);
            if (line_bytes_ == 0 && lines_ != 0 && (fresh.front() == ' ' || fresh.front() == '\t'))
                return http::error::bad_obs_fold;
            if (line_bytes_ == 0) line_is_return_ = line == "\r";
            line_bytes_ += line.size();
            bytes_ += line.size();
            fresh.remove_prefix(line.size());
            if (fresh.empty()) break;
            fresh.remove_prefix(1);
            ++bytes_;
            complete_ = line_bytes_ == 0 || (line_bytes_ == 1 && line_is_return_);
            if (!complete_) ++lines_;
            line_bytes_ = 0;
        }
        if (bytes_ > bytes_max_ || lines_ > header_lines_max) return http::error::header_limit;
        return {};
    }

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool complete() const noexcept { return complete_; }
};

}  // namespace seriesgate
