/// A label as it stands in a request.
#pragma once

#include <span>

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

}  // namespace seriesgate
