/// How much of a header may come.
#pragma once

#include <boost/beast/http/error.hpp>
#include <cstddef>
#include <string_view>

#include "net/http_fields.hpp"

namespace seriesgate {

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
