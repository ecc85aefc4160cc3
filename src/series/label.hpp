/// A label as in a request, and series as text.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes.hpp"

namespace seriesgate {

/// The label with the metric's name.
inline constexpr bytes_view name_label = "__name__";

/// Raw bytes; receivers do not check UTF-8, so neither does the gate.
struct label_view {
    bytes_view name;
    bytes_view value;
};

/// Labels that own their texts.
using series_labels = std::vector<std::pair<std::string, std::string>>;

/// @return views into `labels`, which must outlive them.
std::vector<label_view> label_views(const series_labels& labels);

/// The value of the label `name`; empty if it is missing, which PromQL does not distinguish. Of duplicate labels
/// (invalid; stores differ), the first that is not empty counts.
inline bytes_view label_value(std::span<const label_view> labels, bytes_view name) noexcept {
    for (const label_view& label : labels)
        if (label.name == name && !label.value.empty()) return label.value;
    return {};
}

// --- Series as text.

/// `name{label="value",...}` as in PromQL, labels in their order. Bytes that would break a log line are escaped. Cut to
/// about `bytes_max` bytes: first long values, in the middle, then the last labels.
std::string to_text(std::span<const label_view> labels, std::size_t bytes_max = 1024);

/// In quotes, with bytes that would break a log line escaped.
std::string quoted_text(bytes_view text);

/// Escapes only invalid UTF-8 as `\xff`, control characters as `\x1b` and `\u202e`, and backslashes as `\\`. Distinct
/// texts stay distinct, and none controls a terminal.
std::string readable(bytes_view text);

/// Reverses readable(). @param text a result of readable().
std::string unreadable(bytes_view text);

}  // namespace seriesgate
