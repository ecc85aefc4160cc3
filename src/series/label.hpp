/// A label as it stands in a request.
#pragma once

#include <span>
#include <string>

#include "core/bytes.hpp"

namespace seriesgate {

/// The label that has the name of the metric.
inline constexpr bytes_view name_label = "__name__";

/// Raw bytes; receivers do not check UTF-8, so neither do we.
struct label_view {
    bytes_view name;
    bytes_view value;
};

/// The value of the label `name`, empty if there is none: to PromQL a missing label and an empty one are the same. Of
/// labels with the same name (invalid; stores differ in what they do) the first that is not empty counts.
inline bytes_view label_value(std::span<const label_view> labels, bytes_view name) noexcept {
    for (const label_view& label : labels)
        if (label.name == name && !label.value.empty()) return label.value;
    return {};
}

// --- A series as people write it.

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
