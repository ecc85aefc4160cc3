/// The configured limits, the same compiled for lookups, and the names, keys and numbers of limits and budgets.
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
    std::uint64_t active = 0;  ///< needs set_kind::exact

    [[nodiscard]] bool limit() const noexcept { return hourly != 0 || daily != 0 || active != 0; }
    friend bool operator==(const series_maxima&, const series_maxima&) = default;
};

/// A share in hundredths of a percent.
struct percentage {
    std::uint32_t hundredths = 0;

    friend bool operator==(const percentage&, const percentage&) = default;
};

enum class limit_mode : std::uint8_t {
    enforce,
    observe,  ///< counts what it would refuse, refuses nothing
};

/// How a gate remembers series.
enum class set_kind : std::uint8_t {
    bloom,  ///< a filter for each window; of ten thousand new series one passes uncounted
    exact,  ///< one table with the minute of each series' last sample; counts active series, too
};

enum class limit_answer : std::uint8_t {
    drop,    ///< the upstream's response to the remaining series
    reject,  ///< an error, though the remaining series are stored
};

/// The values of a limit's `each` labels, in their order: {{"namespace", "kube-system"}}.
using group_labels = std::vector<std::pair<std::string, std::string>>;

struct group_override {
    group_labels group;
    series_maxima maxima;

    friend bool operator==(const group_override&, const group_override&) = default;
};

inline constexpr std::size_t limit_name_bytes_max = 100;

/// A limit on the series that a selector matches: one budget, or one for each combination of label values.
struct label_limit {
    std::string name;
    std::optional<selector> match{};  ///< nothing: all series
    std::vector<std::string> each{};
    std::uint64_t groups_max = 10'000;  ///< further groups without an override share one budget
    series_maxima maxima{};
    limit_mode mode = limit_mode::enforce;
    std::optional<limit_answer> answer{};  ///< nothing: the tenant's
    bool per_tenant = false;               ///< every tenant has its own budgets
    std::vector<group_override> overrides{};

    friend bool operator==(const label_limit&, const label_limit&) = default;
};

struct tenant_limits {
    limit_mode mode = limit_mode::enforce;
    limit_answer answer = limit_answer::drop;
    series_maxima fallback;  ///< of tenants without an override
    std::map<std::string, series_maxima, std::less<>> overrides;
    std::map<std::string, limit_answer, std::less<>> answers;  ///< of tenants with an answer of their own
    std::uint64_t tenants_max = 10'000;                        ///< further tenants without an override share one budget

    friend bool operator==(const tenant_limits&, const tenant_limits&) = default;
};

struct limit_rules {
    series_maxima global{};  ///< over all series
    double false_positive_rate = 1e-4;
    std::chrono::seconds incumbent_grace = std::chrono::minutes{10};
    /// A series is active until so long after its last sample, and up to a minute more. Arrival counts, not the
    /// sample's timestamp.
    std::chrono::minutes active_window{10};
    limit_mode mode = limit_mode::enforce;  ///< observe: no limit refuses anything
    tenant_limits tenants{};
    std::vector<label_limit> limits{};
    std::vector<selector> exempt{};  ///< counted only in the exempt limit, while that has room
    /// Per tenant and window; 0: counted, not limited. Further exempt series need room in the other budgets.
    std::uint64_t exempt_series_max = 100'000;
    bool ignores_labels = false;  ///< some labels do not distinguish series
    /// Per tenant and window: distinct values, or combinations of values, of the ignored labels. 0: counted, not
    /// limited. Beyond it these labels distinguish series.
    std::uint64_t ignored_values_max = 64;
    bool whole_histograms = false;  ///< classic histograms are admitted whole or not at all
    /// Series of one histogram that may be admitted without room in one window.
    std::uint64_t histogram_series_max = 200;
    percentage histogram_margin{1'000};  ///< see margin_of

    friend bool operator==(const limit_rules&, const limit_rules&) = default;
};

/// The name of the budget that further tenants or groups share.
inline constexpr std::string_view overflow_name = "__overflow__";

/// The maxima of a tenant. The overflow budget has the fallback's.
const series_maxima& maxima_of(const tenant_limits& tenants, std::string_view tenant);

/// Series that a budget may admit beyond a maximum: completions of histograms, and in the next hour their return. A
/// share of the maximum, but at least one histogram; 0 if histograms are not kept whole.
std::uint64_t margin_of(const limit_rules& rules, std::uint64_t maximum) noexcept;

/// The response to a tenant's senders if its own limit, the global one, a label limit without `answer`, or a missing
/// fleet decision refuses.
limit_answer answer_of(const limit_rules& rules, std::string_view tenant);

// --- Names of budgets.

/// A budget's owner for people; all texts are valid UTF-8.
struct budget_name {
    std::string limit{};  ///< of a label limit; empty for the tenant's and the global budget
    std::string tenant{};
    bool has_tenant = false;
    group_labels group{};
    bool overflow = false;

    /// Whether it is the only budget of a label limit.
    [[nodiscard]] bool is_whole_limit() const noexcept { return !limit.empty() && group.empty() && !has_tenant; }
};

// --- Keys of budgets: texts joined so that different lists give different keys.

/// Longer keys are not kept; their series use the overflow budget. It bounds memory; real namespaces and tenants are
/// shorter.
inline constexpr std::size_t group_key_bytes_max = 1024;

/// Appends the part behind its length as a varint.
void append_key_part(std::string& key, std::string_view part);
std::size_t key_part_bytes(std::string_view part) noexcept;

/// Takes the first part off the key. @return nothing, and an unchanged key, if it is malformed.
std::optional<std::string_view> take_key_part(std::string_view& key) noexcept;

// --- Numbers of limits, small enough for the refused cache.

/// Identifies a limit's name while the process lives, across reloads.
using limit_number = std::uint16_t;

inline constexpr unsigned limit_number_bits = 10;
inline constexpr std::size_t limit_numbers_max = std::size_t{1} << limit_number_bits;

inline constexpr limit_number global_limit = 0;   ///< `global`
inline constexpr limit_number tenant_limit = 1;   ///< `tenant`: every tenant's own limit
inline constexpr limit_number unknown_limit = 2;  ///< `__unknown__`: no limit, see verdict::unknown
inline constexpr limit_number other_limit = 3;    ///< `__other__`: limits for which no number was left
/// `__unavailable__`: no limit; a fleet's shared store did not answer. See decision_outcome::withheld.
inline constexpr limit_number unavailable_limit = 4;
/// `exempt`: every tenant's limit for exempt series. It refuses nothing itself.
inline constexpr limit_number exempt_limit = 5;
/// `ignored-values`: every tenant's limit for values of ignored labels. It refuses no series.
inline constexpr limit_number ignored_values_limit = 6;

/// Their names. No configured limit may have one of them.
inline constexpr std::array<std::string_view, 7> own_limit_names{
    "global", "tenant", "__unknown__", "__other__", "__unavailable__", "exempt", "ignored-values"};

/// Whether the limit of this name can refuse series itself.
constexpr bool refuses_series(std::string_view limit) noexcept {
    return limit != own_limit_names[exempt_limit] && limit != own_limit_names[ignored_values_limit];
}

/// Assigns the numbers. Threads: any; a number never changes its meaning.
class limit_names {
    mutable std::mutex lock_;
    std::deque<std::string> names_{own_limit_names.begin(),
                                   own_limit_names.end()};  // a deque, because name_of() returns references

  public:
    /// The numbers of the limits, in their order; new names get new numbers.
    std::vector<limit_number> numbers_of(const std::vector<label_limit>& limits);
    [[nodiscard]] const std::string& name_of(limit_number number) const;

  private:
    limit_number number_of(std::string_view name);
};

// --- Labels used by rules, numbered so that a series' labels are read once for all rules.

/// Maps label names to numbers, and each matcher and group to its labels. Immutable; threads: any.
class rule_labels {
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(bytes_view text) const noexcept { return std::hash<bytes_view>{}(text); }
    };
    // Keys come from the configuration, so senders cannot cause collisions.
    std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> numbers_;
    std::size_t name_bytes_max_ = 0;
    std::vector<std::uint32_t> numbers_asked_;  // for all selectors and limits, one after the other
    std::vector<std::size_t> begins_;           // indexes into numbers_asked_

  public:
    rule_labels(std::span<const label_limit> limits, std::span<const selector> exempt);

    [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }
    /// How many positions there are, see number().
    [[nodiscard]] std::size_t asked_count() const noexcept { return numbers_asked_.size(); }

    /// @return the label's number, or size() if no rule uses it.
    [[nodiscard]] std::size_t number_of(bytes_view name) const noexcept {
        if (name.size() > name_bytes_max_) return size();
        const auto found = numbers_.find(name);
        return found == numbers_.end() ? size() : found->second;
    }

    /// First positions of an exempt selector's matchers, of a limit's matchers, and of its group labels.
    [[nodiscard]] std::size_t of_exempt(std::size_t i) const noexcept { return begins_[i]; }
    [[nodiscard]] std::size_t of_match(std::size_t limit) const noexcept { return begins_[exempt_count_ + 2 * limit]; }
    [[nodiscard]] std::size_t of_each(std::size_t limit) const noexcept {
        return begins_[exempt_count_ + 2 * limit + 1];
    }
    [[nodiscard]] std::uint32_t number(std::size_t position) const noexcept {
        assert(position < numbers_asked_.size());
        return numbers_asked_[position];
    }

  private:
    std::size_t exempt_count_ = 0;

    void ask(bytes_view name);
};

// --- Compiled rules.

/// The rules with lookup tables. Immutable in use; a reload makes new ones. The gate's own limits, per tenant and
/// without `match`, end `limits`: `exempt` (only observes, since other limits decide beyond it) and `ignored-values`.
struct compiled_rules : limit_rules {
    rule_labels labels;  ///< for rule_selections
    /// Overrides of each limit by group key, without the tenant.
    std::vector<std::map<std::string, series_maxima, std::less<>>> overridden;

    explicit compiled_rules(limit_rules written);

    [[nodiscard]] std::span<const label_limit> written_limits() const noexcept {
        return std::span{limits}.first(limits.size() - (exempt.empty() ? 0 : 1) - (ignores_labels ? 1 : 0));
    }
    /// Index of the exempt limit in `limits`. Precondition: exempt is not empty.
    [[nodiscard]] std::size_t exempt_at() const noexcept { return written_limits().size(); }
    /// Index of the limit of ignored values. Precondition: ignores_labels.
    [[nodiscard]] std::size_t ignored_values_at() const noexcept { return limits.size() - 1; }
    [[nodiscard]] bool is_exempt_limit(std::size_t limit) const noexcept {
        return !exempt.empty() && limit == exempt_at();
    }
    [[nodiscard]] bool look_at_labels() const noexcept {
        return !limits.empty() || !exempt.empty() || whole_histograms;
    }
};

/// The maxima of a group with an override; null for other groups. Takes the same time for any number of overrides.
/// @param limit index in limit_rules::limits.
/// @param key as rule_selections::one::key; nothing: the overflow budget.
const series_maxima* override_of(const compiled_rules& rules, std::size_t limit, std::optional<std::string_view> key);

/// Most series that a window can hold; 0: unlimited.
series_maxima capacities_of(const limit_rules& rules);

}  // namespace seriesgate
