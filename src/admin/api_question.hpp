/// What is asked of /api/v1/...
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cardinality/cardinality_tracker.hpp"
#include "core/result.hpp"
#include "series/label.hpp"

namespace seriesgate {

// --- A series as people ask for it.

/// Names and values, sorted by name.
using series_labels = std::vector<std::pair<std::string, std::string>>;

/// Reads `up{job="a"}`: a selector of which every matcher is an `=`, up to selector_bytes_max bytes and
/// matchers_per_selector_max labels. @return or what is wrong: one line.
result<series_labels, std::string> read_series(std::string_view text);

/// Valid as long as these labels stay.
std::vector<label_view> views_of(const series_labels& labels);

/// The paths behind /api/v1/.
enum class api_path : std::uint8_t { top, findings, refused, explain, suggestions };
/// The last part of the path.
std::string_view name_of(api_path path) noexcept;

/// Two questions that are equal have the same answer.
struct api_question {
    api_path path = api_path::top;
    cardinality_window window = cardinality_window::hourly;
    series_event kind = series_event::newly_admitted;
    std::string by = "metric";
    std::optional<std::string> tenant{};  ///< as the header names it; nothing: all together
    std::uint64_t shown_max = 0;
    std::string match{};                ///< a selector that parses; empty: every series
    std::string series{};               ///< that read_series reads
    std::optional<std::string> name{};  ///< of one of `limits`

    bool operator==(const api_question&) const = default;
};

/// The longest list that is answered, whatever `limit` says.
inline constexpr std::uint64_t api_shown_max = 1'000;

/// Each argument of the path once at most, and no others.
/// @param labels whose values are counted: what `by` may name besides.
/// @return or what is wrong, one line. Linear in the bytes; what it keeps is bounded.
result<api_question, std::string> read_api_question(api_path path, std::string_view query,
                                                    std::span<const std::string> labels);

}  // namespace seriesgate
