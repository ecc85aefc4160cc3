/// What is decided about a series.
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

/// Which window's budget said no.
enum class refusing_window : std::uint8_t { hourly, daily };

/// From the refused cache to the sender's answer. "Told": the sender hears of it, see limit_answer::reject.
enum class verdict : std::uint8_t {
    known,               ///< accepted: admitted before, or a marker that no limit applies to
    admitted,            ///< accepted: counted now
    unknown,             ///< dropped: a stale marker or exemplar of a series that nobody admitted
    refused_hourly = 4,  ///< new, and a budget of the hour is spent
    refused_daily,       ///< new in the day, and a budget of the day is spent
    refused_hourly_reported,
    refused_daily_reported,
};

constexpr unsigned verdict_number(verdict of) noexcept {
    return static_cast<unsigned>(of);
}

constexpr bool is_accepted(verdict of) noexcept {
    return of <= verdict::admitted;
}

/// By a budget; what is unknown is not.
constexpr bool is_refused(verdict of) noexcept {
    return of >= verdict::refused_hourly;
}

constexpr bool is_told(verdict of) noexcept {
    return of == verdict::refused_hourly_reported || of == verdict::refused_daily_reported;
}

/// Whether senders hear of a refusal.
enum class sender_notice : std::uint8_t { silent, reported };

constexpr verdict refused_by(refusing_window window, sender_notice to_sender) noexcept {
    const bool by_hour = window == refusing_window::hourly;
    if (to_sender == sender_notice::reported)
        return by_hour ? verdict::refused_hourly_reported : verdict::refused_daily_reported;
    return by_hour ? verdict::refused_hourly : verdict::refused_daily;
}

/// @param of is_refused.
constexpr refusing_window window_of(verdict of) noexcept {
    assert(is_refused(of));
    static_assert(((verdict_number(verdict::refused_hourly) | verdict_number(verdict::refused_hourly_reported)) & 1) ==
                  0);
    return (verdict_number(of) & 1) == 0 ? refusing_window::hourly : refusing_window::daily;
}

/// A limit without room.
struct spent_limit {
    limit_number by = global_limit;
    refusing_window window = refusing_window::hourly;
};

/// A verdict that is_refused, with the limit that said no.
struct refusal {
    verdict how = verdict::refused_hourly;
    limit_number by = global_limit;

    friend bool operator==(const refusal&, const refusal&) = default;
};

// --- What a request offers to the limiter.

/// One series entry of a request.
struct offered_series {
    std::uint64_t fingerprint = 0;
    std::uint32_t samples = 0;  ///< samples and histograms
    bool admits = false;        ///< holds more than stale markers and exemplars
};

/// Shows the labels of a request's entries again; asked only about entries that may be new.
class label_source {
  public:
    /// @return valid until the next call.
    virtual std::span<const label_view> labels(std::size_t entry) = 0;
    /// The histogram of a series with these labels, as labels() has just shown them; asked only if histograms are to be
    /// kept whole.
    virtual histogram_family family(std::span<const label_view> labels) = 0;

  protected:
    ~label_source() = default;
};

/// Where a request comes from and what its series look like.
struct request_origin {
    std::string_view tenant{};
    label_source* labels = nullptr;   ///< none: no series has labels
    bool are_ignored_values = false;  ///< what is offered is no series, see limit_rules::ignored_values_max
};

// --- What the limits that only observe would have refused of one request.

/// A limit without room, and the entries that were admitted all the same.
struct observed_share {
    spent_limit by;           ///< as it was for the first of them
    std::uint32_t first = 0;  ///< entry
    std::uint64_t samples = 0;
};

/// Entries that are spoken of together.
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

/// Adds up by limit: a request may have millions of series, and each may meet all limits. Keeps its memory from one
/// request to the next. Threads: one at a time.
class observed_shares {
    std::vector<observed_share> shares_;  // in the order in which they came
    std::vector<std::uint32_t> places_;   // by limit: one more than its index in shares_, or 0

  public:
    void start() noexcept {
        for (const observed_share& each : shares_) places_[each.by.by] = 0;
        shares_.clear();
    }

    void add(const spent_limit& by, std::uint32_t entry, std::uint64_t samples) {
        if (by.by >= places_.size()) places_.resize(by.by + std::size_t{1});
        std::uint32_t& place = places_[by.by];
        if (place == 0) {
            shares_.push_back({.by = by, .first = entry});
            place = static_cast<std::uint32_t>(shares_.size());
        }
        shares_[place - 1].samples += samples;
    }

    [[nodiscard]] std::span<const observed_share> all() const noexcept { return shares_; }
};

// --- What a store that several gates share has said about the new series of one request.

/// Whose counts decide.
enum class limit_scope : std::uint8_t {
    gate,   ///< this gate's alone: it decides by its own counts
    fleet,  ///< shared: series that they may refuse are decided by what a store has told, and by nothing else
};

enum class told_outcome : std::uint8_t {
    unasked,                 ///< no shared limit applies
    known,                   ///< counted before, by whichever gate
    taken,                   ///< counted now
    refused,                 ///< by the budget in `place`
    withheld,                ///< nobody has answered: refused, and not remembered
    let_pass,                ///< nobody has answered: accepted, and not remembered
    owed,                    ///< the same, and the store is to be told of it: see set_aside_owed
    refused_with_histogram,  ///< nobody was asked: another series of its histogram was refused, `like`
};

/// A budget as all gates together have filled it.
struct heard_budget {
    std::uint32_t place = 0;    ///< see budget_table::find
    std::uint64_t hourly = 0;   ///< series counted
    std::uint64_t daily = 0;    ///< the same
    std::uint64_t awaited = 0;  ///< incumbents that room is kept for, in the hour
    bool unasked = false;       ///< nobody was asked now: as heard before, and nothing of what room is kept for
};

/// About one series.
struct told_series {
    told_outcome outcome = told_outcome::unasked;
    refusing_window window = refusing_window::hourly;  ///< of those refused
    std::uint32_t place = 0;                           ///< of those refused: the budget, see budget_table::find
    std::span<const heard_budget> heard{};             ///< all shared budgets of the series
    in_windows completed{};                            ///< of those taken: had no room, and completes its histogram
    /// Of those refused with their histogram: the place in told::pending of that other series; nothing if this gate
    /// refused it in an earlier request.
    std::optional<std::uint32_t> like{};

    /// Null for a budget that is this gate's own.
    [[nodiscard]] const heard_budget* at(std::size_t wanted) const noexcept {
        for (const heard_budget& each : heard)
            if (each.place == wanted) return &each;
        return nullptr;
    }
};

/// About all that a request's lookups have left open.
struct told {
    window_span hour;                     ///< in which it was decided
    bool in_grace = false;                ///< while room may have been kept for incumbents
    std::vector<told_series> pending{};   ///< as undecided::pending
    std::vector<bool> known_followers{};  ///< as undecided::followers: whether the store knows the series
};

}  // namespace seriesgate
