/// A series as people write it.
#pragma once

#include <span>
#include <string>

#include "core/bytes.hpp"
#include "series/label.hpp"

namespace seriesgate {

/// `name{label="value",...}` as PromQL shows it, labels in their order; bytes that would break a log line are escaped,
/// and it is cut to about `bytes_max` bytes: at first long values, in the middle, then the last labels.
std::string to_text(std::span<const label_view> labels, std::size_t bytes_max = 1024);

/// In quotes, with what would break a log line escaped.
/// To be called by its full name: a std::string also finds std::quoted, wherever <iomanip> has been included.
std::string quoted(bytes_view text);

/// As it is, but for bytes that are no UTF-8, `\xff`, control characters, `\x1b` and `\u202e`, and backslashes, `\\`:
/// so different texts stay different, and none gives orders to a terminal.
std::string readable(bytes_view text);

/// The text that readable() was given. @param text what it made of it.
std::string unreadable(bytes_view text);

}  // namespace seriesgate
