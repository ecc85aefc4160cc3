/// The rules, ready for use.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limit/rule_labels.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// The rules with what is looked up in them. Immutable once in use: a reload makes new ones. At the end of `limits` are
/// those of the gate itself, by tenant and without a `match`: `exempt`, which only observes (what it has no room for is
/// decided by others), and `ignored-values`.
struct compiled_rules : limit_rules {
    rule_labels labels;  ///< what the rules look at, numbered, as rule_selections wants them
    /// The overrides of each limit by what rule_selections joins of a group, without the tenant.
    std::vector<std::map<std::string, series_maxima, std::less<>>> overridden;

    explicit compiled_rules(limit_rules written);

    /// Those that people have written.
    [[nodiscard]] std::span<const label_limit> written_limits() const noexcept {
        return std::span{limits}.first(limits.size() - (exempt.empty() ? 0 : 1) - (ignores_labels ? 1 : 0));
    }
    /// Index in limits, see limit_rules::exempt. Precondition: there are such series.
    [[nodiscard]] std::size_t exempt_at() const noexcept { return written_limits().size(); }
    /// The same of ignored values. Precondition: ignores_labels.
    [[nodiscard]] std::size_t ignored_values_at() const noexcept { return limits.size() - 1; }
    [[nodiscard]] bool is_exempt_limit(std::size_t limit) const noexcept {
        return !exempt.empty() && limit == exempt_at();
    }
    /// Whether anything depends on labels.
    [[nodiscard]] bool look_at_labels() const noexcept {
        return !limits.empty() || !exempt.empty() || whole_histograms;
    }
};

/// The maxima of a group that has its own; null for the others. Found in the same time among ten overrides or ten
/// thousand.
/// @param limit index in limit_rules::limits.
/// @param key as of rule_selections; nothing: of the budget that groups without one share.
const series_maxima* override_of(const compiled_rules& rules, std::size_t limit, std::optional<std::string_view> key);

/// How many series a window can come to hold; 0 is unlimited.
series_maxima capacities_of(const limit_rules& rules);

}  // namespace seriesgate
