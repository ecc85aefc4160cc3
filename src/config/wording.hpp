#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

/// How error messages speak of what the user wrote.
namespace seriesgate {

/// Fit for one line of a log: control characters become '?', what is longer than `shown_max` bytes is cut, and URLs
/// lose their secrets (see secret_text.hpp).
std::string printable(std::string_view text, std::size_t shown_max);

/// A value or a name in single quotes, printable, cut after 80 bytes.
std::string in_quotes(std::string_view text);

std::string in_lower_case(std::string_view text);

/// As names are compared: without case, '-' and '_'.
std::string folded(std::string_view name);

/// The candidate that was probably meant; empty if none is near. Case, '-' and '_' do not count, and neither does what
/// stands before the last dot, so that `timeout` finds `upstream.timeout`.
std::string_view closest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace seriesgate
