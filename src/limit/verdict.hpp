/// The vocabulary of decisions: verdicts, refusals, offered series, observed shares and the fleet decision.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "limit/rules.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"

namespace seriesgate {

enum class refusing_window : std::uint8_t { hourly, daily, active };
inline constexpr std::size_t refusing_windows = 3;

/// The first of them, in their order. Precondition: which.any().
constexpr refusing_window first_of(in_windows which) noexcept {
    return which.hour ? refusing_window::hourly : which.day ? refusing_window::daily : refusing_window::active;
}
constexpr bool is_in(refusing_window window, in_windows which) noexcept {
    return window == refusing_window::hourly ? which.hour : window == refusing_window::daily ? which.day : which.active;
}

/// The decision about a series. "Reported": the sender is told of the refusal, see limit_answer::reject.
enum class verdict : std::uint8_t {
    known,               ///< accepted: admitted before, or a marker that no limit applies to
    admitted,            ///< accepted: counted now
    unknown,             ///< dropped: a stale marker or exemplar of a series never admitted
    refused_hourly = 4,  ///< new, and an hourly budget is full
    refused_daily,       ///< new in the day, and a daily budget is full
    refused_active,      ///< not active, and a budget has no room for active series
    refused_hourly_reported = 8,
    refused_daily_reported,
    refused_active_reported,
};

constexpr unsigned verdict_number(verdict of) noexcept {
    return static_cast<unsigned>(of);
}

constexpr bool is_accepted(verdict of) noexcept {
    return of <= verdict::admitted;
}

/// Refused by a budget; false for verdict::unknown.
constexpr bool is_refused(verdict of) noexcept {
    return of >= verdict::refused_hourly;
}

constexpr bool is_reported(verdict of) noexcept {
    return of >= verdict::refused_hourly_reported;
}

constexpr verdict refused_by(refusing_window window, limit_answer answer) noexcept {
    const verdict first = answer == limit_answer::reject ? verdict::refused_hourly_reported : verdict::refused_hourly;
    return static_cast<verdict>(verdict_number(first) + static_cast<unsigned>(window));
}

constexpr refusing_window window_of(verdict of) noexcept {
    assert(is_refused(of));
    static_assert(((verdict_number(verdict::refused_hourly) | verdict_number(verdict::refused_hourly_reported)) & 3) ==
                  0);
    return static_cast<refusing_window>(verdict_number(of) & 3);
}

struct spent_limit {
    limit_number limit = global_limit;
    refusing_window window = refusing_window::hourly;
};

/// A refusing verdict with the limit that refused.
struct refusal {
    verdict how = verdict::refused_hourly;
    limit_number limit = global_limit;

    friend bool operator==(const refusal&, const refusal&) = default;
};

// --- Input of the limiter.

struct offered_series {
    std::uint64_t fingerprint = 0;
    std::uint32_t samples = 0;  ///< samples and histograms
    bool admits = false;        ///< has more than stale markers and exemplars
};

/// Reads the labels of a request's entries again; used only for entries that may be new.
class label_source {
  public:
    /// @return valid until the next call.
    virtual std::span<const label_view> labels(std::size_t entry) = 0;
    /// The histogram of the entry, of which labels() has just returned the labels; used only if histograms are kept
    /// whole.
    virtual histogram_family family(std::size_t entry, std::span<const label_view> labels) = 0;

  protected:
    ~label_source() = default;
};

/// A request's tenant and access to its labels.
struct request_origin {
    std::string_view tenant{};
    label_source* labels = nullptr;   ///< null: no series has labels
    bool are_ignored_values = false;  ///< the entries are ignored values, see limit_rules::ignored_values_max
    bool are_stored = false;          ///< the store has them already: they are admitted above limits too
};

// --- Series of one request that observing limits would have refused.

/// A limit without room, and the entries admitted nevertheless.
struct observed_share {
    limit_number limit = global_limit;
    refusing_window window = refusing_window::hourly;  ///< as for the first entry
    std::uint32_t first = 0;                           ///< entry
    std::uint64_t samples = 0;
};

/// The first entry of a kind, and all its samples.
struct entry_share {
    std::uint32_t first = 0;
    std::uint64_t samples = 0;
    bool is_empty = true;

    void add(std::uint32_t entry, std::uint64_t more) noexcept {
        if (is_empty) first = entry;
        is_empty = false;
        samples += more;
    }
};

/// Sums samples by limit, because a request may have millions of series and each may exceed all limits. Reuses its
/// memory. Threads: one at a time.
/// @tparam Share has `limit` and `samples`.
template <class Share>
class shares_by_limit {
    std::vector<Share> shares_;          // in order of arrival
    std::vector<std::uint32_t> places_;  // by limit: index in shares_ plus one, or 0

  public:
    void start() noexcept {
        for (const Share& each : shares_) places_[each.limit] = 0;
        shares_.clear();
    }

    /// @return false if the limit has no share yet: call begin().
    bool add(limit_number limit, std::uint64_t samples) noexcept {
        if (limit >= places_.size() || places_[limit] == 0) [[unlikely]]
            return false;
        shares_[places_[limit] - 1].samples += samples;
        return true;
    }
    void begin(const Share& first) {
        if (first.limit >= places_.size()) places_.resize(first.limit + std::size_t{1});
        shares_.push_back(first);
        places_[first.limit] = static_cast<std::uint32_t>(shares_.size());
    }

    [[nodiscard]] std::span<const Share> all() const noexcept { return shares_; }
};

// --- The fleet decision: what the store shared by several gates decided about the new series of one request.

enum class limit_scope : std::uint8_t {
    gate,   ///< this gate's own
    fleet,  ///< the store's: only its decision admits series that a shared limit may refuse
};

enum class decision_outcome : std::uint8_t {
    unasked,                 ///< no shared limit applies
    known,                   ///< counted before, by any gate
    taken,                   ///< counted now
    refused,                 ///< by the budget in `place`
    withheld,                ///< no answer: refused, and not remembered
    passes,                  ///< not asked, or no answer: admitted, and reported to the store later, see telling.hpp
    refused_with_histogram,  ///< not asked, since its histogram is refused: see `like`
};

/// Counts of a shared budget over all gates.
struct counted_budget {
    std::uint32_t place = 0;     ///< see budget_table::find
    std::uint64_t hourly = 0;    ///< series counted
    std::uint64_t daily = 0;     ///< series counted
    std::uint64_t reserved = 0;  ///< incumbents that have not returned in this hour, so that room waits for them
    bool unasked = false;        ///< counts from an earlier answer; `reserved` is unset
    bool is_overflow = false;    ///< the store counts it in the overflow budget
};

/// The fleet decision about one series.
struct pending_decision {
    decision_outcome outcome = decision_outcome::unasked;
    refusing_window window = refusing_window::hourly;  ///< if refused
    std::uint32_t place = 0;                           ///< if refused: the budget, see budget_table::find
    std::span<const counted_budget> budgets{};         ///< all shared budgets of the series
    in_windows completed{};  ///< if taken: windows without room, where it completes its histogram
    /// If refused_with_histogram: index of the other series in fleet_decision::pending; nothing: refused in an earlier
    /// request.
    std::optional<std::uint32_t> like{};

    /// Null for a budget of this gate alone.
    [[nodiscard]] const counted_budget* at(std::size_t wanted) const noexcept {
        for (const counted_budget& each : budgets)
            if (each.place == wanted) return &each;
        return nullptr;
    }
};

/// The fleet decision about all open series of a request.
struct fleet_decision {
    window_span hour;          ///< in which the store decided
    std::uint64_t losses = 0;  ///< losses_of() before the store was asked: it may have lost its answer since
    std::vector<pending_decision> pending{};  ///< as lookup_result::pending
    std::vector<bool> known_non_admitting{};  ///< as lookup_result::non_admitting: whether the store knows the series
};

}  // namespace seriesgate
