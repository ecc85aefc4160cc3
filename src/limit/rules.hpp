/// What is said about limits, as people write it.
#pragma once

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "series/label.hpp"
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

// --- Whose budget it is.

/// For people: all of it is valid UTF-8.
struct budget_name {
    std::string limit;  ///< of a label limit; empty for a tenant's and the global budget
    std::string tenant;
    bool has_tenant = false;
    group_labels group;
    bool overflow = false;

    /// Whether it is the one budget of a label limit.
    [[nodiscard]] bool is_whole_limit() const noexcept { return !limit.empty() && group.empty() && !has_tenant; }
};

// --- What a budget is filed under: some texts joined so that no two lists of them give the same key.

/// A longer key is none: its series share the overflow budget. No real namespace or tenant is that long, and keys are
/// kept in memory.
inline constexpr std::size_t group_key_bytes_max = 1024;

/// Each part stands behind its length as a varint.
void append_key_part(std::string& key, std::string_view part);
std::size_t key_part_bytes(std::string_view part) noexcept;

/// Takes the first part off the key. @return nothing, and the key as it was, if it is not one of ours.
std::optional<std::string_view> take_key_part(std::string_view& key) noexcept;

/// All parts; those of a damaged key as far as it can be read.
std::vector<std::string> split_key(std::string_view key);

// --- A number for each limit, small enough to be remembered with every refusal.

/// Stands for the name of a limit as long as the process lives, whatever reloads there are.
using limit_number = std::uint16_t;

inline constexpr unsigned limit_number_bits = 10;
inline constexpr std::size_t limit_numbers_max = std::size_t{1} << limit_number_bits;

inline constexpr limit_number global_limit = 0;   ///< `global`
inline constexpr limit_number tenant_limit = 1;   ///< `tenant`: the one that each tenant has
inline constexpr limit_number unknown_limit = 2;  ///< `__unknown__`: none, see verdict::unknown
inline constexpr limit_number other_limit = 3;    ///< `__other__`: limits that found no number left
/// `__unavailable__`: none, the store that gates share has not answered. See told_outcome::withheld.
inline constexpr limit_number unavailable_limit = 4;
/// `exempt`: the one that each tenant has for what limit_rules::exempt selects. It refuses nothing by itself.
inline constexpr limit_number exempt_limit = 5;
/// `ignored-values`: the one that each tenant has for values of labels that tell no series apart. It refuses no series.
inline constexpr limit_number ignored_values_limit = 6;

/// What these stand for. No limit in the configuration may have such a name.
inline constexpr std::array<std::string_view, 7> own_limit_names{
    "global", "tenant", "__unknown__", "__other__", "__unavailable__", "exempt", "ignored-values"};

/// Gives the numbers. Threads: any; what a number stands for never changes.
class limit_names {
    mutable std::mutex lock_;
    std::deque<std::string> names_{own_limit_names.begin(), own_limit_names.end()};  // they stay where they are

  public:
    /// Of the limits with these names, in their order: those that they have had before, or new ones.
    std::vector<limit_number> numbers_of(const std::vector<std::string_view>& names);
    [[nodiscard]] const std::string& name_of(limit_number number) const;

  private:
    limit_number number_of(std::string_view name);
};

// --- The labels that rules look at, numbered, so that a series' labels are gone through once for all rules together.

/// Where the rules find what they ask for. Made with them, immutable; any thread may read it.
class rule_labels {
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(bytes_view text) const noexcept { return std::hash<bytes_view>{}(text); }
    };
    // Its keys are the configuration's: nobody else can make them collide.
    std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> numbers_;
    std::size_t name_bytes_max_ = 0;
    std::vector<std::uint32_t> numbers_asked_;  // by all selectors and limits, one after the other
    std::vector<std::size_t> begins_;           // in numbers_asked_

  public:
    rule_labels(std::span<const label_limit> limits, std::span<const selector> exempt);

    /// Of labels: as many numbers there are.
    [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
    /// Of what the matchers and limits ask for, together: bounds `first_asked() + i`.
    [[nodiscard]] std::size_t asked_count() const noexcept { return numbers_asked_.size(); }

    /// @return the label's number, or size() if no rule asks for it.
    [[nodiscard]] std::size_t number_of(bytes_view name) const noexcept {
        if (name.size() > name_bytes_max_) return size();
        const auto found = numbers_.find(name);
        return found == numbers_.end() ? size() : found->second;
    }

    /// What a part of the rules asks for, in its own order: an exempt selector's matchers, those of a limit, and the
    /// labels that make a limit's groups. As positions: see number().
    [[nodiscard]] std::size_t of_exempt(std::size_t i) const noexcept { return begins_[i]; }
    [[nodiscard]] std::size_t of_match(std::size_t limit) const noexcept { return begins_[exempt_count_ + 2 * limit]; }
    [[nodiscard]] std::size_t of_each(std::size_t limit) const noexcept {
        return begins_[exempt_count_ + 2 * limit + 1];
    }
    /// The label asked for at a position.
    [[nodiscard]] std::uint32_t number(std::size_t position) const noexcept {
        assert(position < numbers_asked_.size());
        return numbers_asked_[position];
    }

  private:
    std::size_t exempt_count_ = 0;

    void ask(bytes_view name);
};

// --- The rules, ready for use.

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
