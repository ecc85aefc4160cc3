/// What is said about limits, as people write it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "series/selector.hpp"

namespace seriesgate {

/// Series in one window; 0: counted, not limited.
struct series_maxima {
    std::uint64_t hourly = 0;
    std::uint64_t daily = 0;

    [[nodiscard]] bool limit() const noexcept { return hourly != 0 || daily != 0; }
    friend bool operator==(const series_maxima&, const series_maxima&) = default;
};

/// A part of a whole.
struct percentage {
    std::uint32_t hundredths = 0;  ///< of a percent

    friend bool operator==(const percentage&, const percentage&) = default;
};

enum class limit_mode : std::uint8_t {
    enforce,
    observe,  ///< counts what it would refuse, refuses nothing
};

/// What a sender is told whose series are refused.
enum class limit_answer : std::uint8_t {
    drop,    ///< what the store says of the rest
    reject,  ///< an error, though the rest is stored
};

/// The values of a limit's `each` labels, in their order: {{"namespace", "kube-system"}}.
using group_labels = std::vector<std::pair<std::string, std::string>>;

struct group_override {
    group_labels group;
    series_maxima maxima;

    friend bool operator==(const group_override&, const group_override&) = default;
};

inline constexpr std::size_t limit_name_bytes_max = 100;

/// A limit over the series that a selector matches: one budget, or one for each combination of label values.
struct label_limit {
    std::string name;
    std::optional<selector> match;  ///< nothing: all series
    std::vector<std::string> each;
    std::uint64_t groups_max = 10'000;  ///< groups without an override beyond these share one budget
    series_maxima maxima;
    limit_mode mode = limit_mode::enforce;
    std::optional<limit_answer> answer;  ///< nothing: as for the tenant
    bool per_tenant = false;             ///< budgets of their own for every tenant
    std::vector<group_override> overrides;

    friend bool operator==(const label_limit&, const label_limit&) = default;
};

struct tenant_limits {
    limit_mode mode = limit_mode::enforce;
    limit_answer answer = limit_answer::drop;
    series_maxima fallback;  ///< of tenants without an override
    std::map<std::string, series_maxima, std::less<>> overrides;
    std::map<std::string, limit_answer, std::less<>> answers;  ///< of tenants that have one of their own
    std::uint64_t tenants_max = 10'000;  ///< tenants without an override beyond these share one budget

    friend bool operator==(const tenant_limits&, const tenant_limits&) = default;
};

/// All that is said about limits, as configured: the one description of it from the configuration to the limiter.
struct limit_rules {
    series_maxima global{};  ///< over all series
    double false_positive_rate = 1e-4;
    std::chrono::seconds incumbent_grace = std::chrono::minutes{10};
    limit_mode mode = limit_mode::enforce;  ///< observe: no limit refuses anything
    tenant_limits tenants{};
    std::vector<label_limit> limits{};
    std::vector<selector> exempt{};  ///< in no limit but the next
    /// Of each tenant in a window, 0: counted, not limited. Exempt series beyond need room as others do.
    std::uint64_t exempt_series_max = 100'000;
    bool ignores_labels = false;  ///< some labels tell no series apart
    /// Of each tenant in a window, 0: counted, not limited: different values, or combinations of values, of the labels
    /// that tell no series apart. With further ones they do.
    std::uint64_t ignored_values_max = 64;
    bool whole_histograms = false;  ///< a classic histogram is admitted whole or not at all
    /// Series of one histogram that are admitted without room in one window.
    std::uint64_t histogram_series_max = 200;
    percentage histogram_margin{1'000};  ///< see margin_of

    friend bool operator==(const limit_rules&, const limit_rules&) = default;
};

/// The budget that further tenants or groups share.
inline constexpr std::string_view overflow_name = "__overflow__";

/// The maxima of a tenant. The overflow budget has those of the fallback.
const series_maxima& maxima_of(const tenant_limits& tenants, std::string_view tenant);

/// How many series a budget may admit beyond a maximum: those that complete histograms, and in the next hour as many
/// that were admitted in this one. A part of the maximum, but at least one histogram; 0 where nothing is completed.
std::uint64_t margin_of(const limit_rules& rules, std::uint64_t maximum) noexcept;

/// Of the label limits, in their order.
std::vector<std::string_view> limit_names_of(const limit_rules& rules);

/// What a tenant's senders are told when its own limit refuses, or the global one, or a label limit that does not say.
limit_answer answer_of(const limit_rules& rules, std::string_view tenant);

}  // namespace seriesgate
