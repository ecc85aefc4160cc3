/// Beast's header fields, without anything that reads or writes them.
#pragma once

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text.hpp"
#include "net/asio.hpp"

namespace seriesgate {

namespace http = boost::beast::http;

// --- Lists and the order of names in header fields. Whether two names are one: core/ascii.hpp.

/// An order in which names that mean the same are equal.
constexpr bool name_before(std::string_view one, std::string_view other) noexcept {
    return std::ranges::lexicographical_compare(one, other, {}, lower, lower);
}

/// Without the white space of RFC 9110, section 5.6.3, at both ends.
constexpr std::string_view trimmed(std::string_view text) noexcept {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Hands every item between commas that is not empty to `visit`, in one pass. Source: RFC 9110, section 5.6.1.
/// @param visit returns whether to go on.
template <class Visit>
void for_each_item(std::string_view list, Visit visit) {
    for (;;) {
        const auto comma = list.find(',');
        const std::string_view item = trimmed(list.substr(0, comma));
        if (!item.empty() && !visit(item)) return;
        if (comma == std::string_view::npos) return;
        list.remove_prefix(comma + 1);
    }
}

// --- What Beast leaves open about how long a body is, in messages of both directions.

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

// --- How much of a header may come.

inline constexpr std::size_t header_bytes_max = 64 * 1024;
/// A parsed line takes about a hundred bytes, however short it is. Other proxies and stores allow as many.
inline constexpr std::size_t header_lines_max = 100;

/// Counts a header's bytes and lines as they come, and finds its end.
class header_meter {
    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
    std::size_t lines_ = 0;
    std::size_t line_bytes_ = 0;  // of the line that has no end yet
    bool line_is_return_ = false;
    bool complete_ = false;

  public:
    /// @param bytes_max at most header_bytes_max.
    explicit header_meter(std::size_t bytes_max = header_bytes_max) : bytes_max_(bytes_max) {}

    /// Counts what came next; bytes behind the header's end do not count. @return http::error::header_limit when the
    /// header is too large; bad_obs_fold for a line that goes on in the next: who reads it so and who does not see two
    /// headers. Source: RFC 9112, section 5.2.
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
