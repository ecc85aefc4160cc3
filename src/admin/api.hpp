/// /api/v1/...: its arguments and answers; the arguments of /stats. Which page is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "admin/status_facts.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "core/result.hpp"
#include "limit/explain.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate {

/// A question is read on the thread that answers health.
inline constexpr selector_bounds question_bounds{.regexes_max = 4, .regex_memory_max = 256 << 10};

/// Reads `up{job="a"}`: a selector with `=` matchers only, up to selector_bytes_max bytes and matchers_per_selector_max
/// labels. @return or the error, one line.
result<series_labels, std::string> read_series(std::string_view text);

/// The pages, and what /api/v1 answers.
enum class api_path : std::uint8_t { metrics, stats, status, top, findings, refused, explain, suggestions };

/// Equal questions have the same answer.
struct api_question {
    api_path path = api_path::top;
    cardinality_window window = cardinality_window::hourly;
    series_event kind = series_event::newly_admitted;
    std::string by = "metric";
    std::optional<std::string> tenant{};  ///< as in the header; nothing: all tenants
    std::uint64_t shown_max = budget_choice{}.shown_max;
    std::string match{};  ///< a valid selector; empty: every series
    std::string series{};
    std::optional<std::string> name{};  ///< of one of `limits`

    /// Whether this is a part of /stats or an API answer, of which there can be any number.
    [[nodiscard]] bool is_part() const;
    bool operator==(const api_question&) const = default;
};

/// The budgets that /stats or the suggestions are asked for.
budget_choice choice_of(const api_question& asked);

/// Longest list in an answer of /api/v1, whatever `limit` asks for.
inline constexpr std::uint64_t api_shown_max = 1'000;

/// Reads each argument of the path, at most once, and rejects others.
/// @param labels the counted labels, also allowed in `by`.
/// @return or the error, one line. Linear in the bytes; the result is bounded.
result<api_question, std::string> read_api_question(api_path path, std::string_view query,
                                                    std::span<const std::string> labels);

// --- The answers as JSON, with the keys of docs/api.md. Threads: any.

/// With the keys of docs/stats.md and docs/stats.schema.json.
/// @param shown_max of tenants, and of limits: those with most demand.
std::string stats_json(const process_facts& process, const gate_counts& counts, const limiter_figures& figures,
                       std::uint64_t shown_max);

/// @param found nothing if the rules would take too long.
/// @param meanwhile what decides about series that are not known in place of the limits, for now; or nothing.
std::string explain_json(const series_limiter& limiter, const series_labels& series, std::string_view tenant,
                         const std::optional<explanation>& found, std::string_view meanwhile = {});

/// @param rules by which the suggestions were made.
std::string suggestions_json(const suggestion_list& list, const limit_rules& rules);

/// @param of see explosions_in.
std::string top_json(cardinality_tracker& tracker, const api_question& asked);
std::string findings_json(cardinality_tracker& tracker, const api_question& asked, const status_facts& of);
std::string refused_json(refused_ring& refused, const api_question& asked);

}  // namespace seriesgate
