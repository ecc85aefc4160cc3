/// What a gate has heard of its shared store, for all of its threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "claim/store_call.hpp"
#include "claim/witnessed_clock.hpp"

namespace seriesgate {

class fleet_rules;
class series_limiter;

/// How the shared store stands, as this gate knows.
enum class store_reach : std::uint8_t {
    unheard,      ///< before the first heartbeat
    joined,       ///< answers: requests ask it about new series
    refilling,    ///< has lost data, and gates tell it again: no room for new series meanwhile
    away,         ///< cannot be reached: shared.onUnavailable decides about new series
    wrong_clock,  ///< as away, because its clock is wrong
};

/// Whether more series of the hour before count in a budget than its maximum.
enum class over_full : std::uint8_t { no, unknown, yes };

/// Threads: any.
class fleet_view {
  public:
    /// As heard last, in the open hour and its day. 0: nothing was heard.
    struct budget_counts {
        std::uint64_t hourly = 0;
        std::uint64_t daily = 0;
        std::uint64_t before = 0;             ///< of the hour before
        std::optional<std::uint64_t> kept{};  ///< see budget_in_store
        std::uint64_t fed = 0;                ///< part of `hourly` from the feed: this gate knows these series

        friend bool operator==(const budget_counts&, const budget_counts&) = default;
    };

    /// A ticket counts a request for as long as it lives.
    struct count_down {
        void operator()(std::atomic<std::uint64_t>* count) const noexcept { count->fetch_sub(1); }
    };
    using ticket = std::unique_ptr<std::atomic<std::uint64_t>, count_down>;

    witnessed_clock clock;

    [[nodiscard]] store_reach state() const noexcept { return state_.load(std::memory_order_relaxed); }
    void set_state(store_reach now) noexcept {
        if (now == store_reach::joined) are_counts_partial_ = false;
        state_.store(now, std::memory_order_relaxed);
    }
    /// Whether it answers, and is believed.
    [[nodiscard]] bool is_reachable() const noexcept {
        return state() == store_reach::joined || state() == store_reach::refilling;
    }

    /// Whether counts have been heard since the last loss of data: without them this gate has no part of any room.
    [[nodiscard]] bool knows_counts() const noexcept { return !are_counts_partial_; }

    /// Whether requests ask the store. While it is refilled it does not know whether places have lapsed. So a gate that
    /// has told does not ask, or series of the hour before would find places that others have taken.
    [[nodiscard]] bool may_ask(std::int64_t hour) const noexcept {
        return state() == store_reach::joined || (state() == store_reach::refilling && !accepts_none(hour));
    }

    // --- Of the store.

    [[nodiscard]] open_windows windows() const;
    [[nodiscard]] std::string epoch() const;
    /// Sets the terms that come from the store: the epoch, and the names of the windows of into.hour.
    void describe(gate_terms& into) const;
    /// From an answer to a call: other windows, or an earlier hour, are ignored, because answers overtake each other.
    void hear(const open_windows& open);
    /// From a heartbeat. A new epoch clears the counts of budgets.
    void begin(const std::string& epoch, const open_windows& open);
    /// @param alive gates that the store has heard of in this hour or the one before.
    void hear_gates(std::size_t alive);

    // --- Of budgets. At most counts_max are remembered.

    static constexpr std::size_t counts_max = 256 * 1024;
    void hear(const store_call& asked, const store_answer& said);
    void hear(const fed_call& said);
    /// The counts of all budgets in a window, read from its record. @param hour that was open.
    /// @param window hourly, daily or before.
    void hear_record(std::span<const std::pair<std::uint64_t, std::uint64_t>> counts, std::int64_t hour,
                     std::uint64_t budget_counts::*window);
    /// Whether the counts of the hour before are known. If not, requests ask about its series.
    [[nodiscard]] bool knows_hour_before() const;
    /// Notes whether the feed has reported all that was taken in the hour so far.
    void follows_feed(bool all);
    void set_fresh_until(witnessed_clock::steady_point until) noexcept {
        fresh_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
    }
    /// Whether this gate knows all series that were granted in the hour, but for the last second.
    [[nodiscard]] bool is_fresh(witnessed_clock::steady_point now) const noexcept {
        return now.time_since_epoch().count() < fresh_until_.load(std::memory_order_relaxed);
    }
    /// @return nothing: no count of this budget was heard.
    [[nodiscard]] std::optional<budget_counts> counts_of(std::uint64_t id) const;

    [[nodiscard]] over_full is_over_full(const shared_budget& of, std::int64_t hour) const;

    // --- Without the store.

    /// Admits a series without an answer if this gate's part of all its budgets has room, and counts it there. The part
    /// is the room last heard, divided by the highest number of gates in the hour.
    /// @param hour in which it is to count. What was never heard of has no room.
    [[nodiscard]] bool admits_alone(std::span<const shared_budget* const> budgets, std::int64_t hour);

    // --- Answers that are under way when the store loses its data.

    /// Notes a request that asks. Hold the ticket from before the question until the answer is committed.
    /// @param losses losses_of(), see limit/telling.hpp.
    [[nodiscard]] ticket ask(std::uint64_t losses) noexcept { return ticket_of(asking_[losses % asking_.size()]); }
    /// Whether a request may still commit an answer from before the last loss.
    [[nodiscard]] bool has_earlier_answers(std::uint64_t losses) const noexcept {
        return asking_[(losses + 1) % asking_.size()].load() != 0;
    }

    // --- Series of the hour before.

    /// @param hour that is running. @return nothing after say_told(): they ask as new series do.
    [[nodiscard]] ticket accept(std::int64_t hour) noexcept;
    /// From now on no incumbent is accepted in this hour. @param is_clean whether nothing is left to tell; called when
    /// no request accepts any more. @return false if that is not so yet; then nothing has changed.
    bool say_told(std::int64_t hour, const std::function<bool()>& is_clean);
    /// None is accepted in this hour, whether all was told or not: another run of this gate may have said so.
    void accept_none(std::int64_t hour) noexcept { told_hour_.store(hour); }
    [[nodiscard]] bool accepts_none(std::int64_t hour) const noexcept { return told_hour_.load() == hour; }

  private:
    struct in_hour_and_day {
        std::uint64_t hourly = 0;
        std::uint64_t daily = 0;
    };

    static ticket ticket_of(std::atomic<std::uint64_t>& count) noexcept {
        count.fetch_add(1);
        return ticket{&count};
    }
    void move_to(const open_windows& open);
    budget_counts* find_or_make(std::uint64_t id);
    [[nodiscard]] std::optional<in_hour_and_day> room_alone(const shared_budget& of) const;

    std::atomic<store_reach> state_{store_reach::unheard};
    /// From a new epoch until it is joined: gates have refilled a part. By it a gate alone would have too much room.
    std::atomic<bool> are_counts_partial_{true};
    std::atomic<std::int64_t> told_hour_{-1};
    std::atomic<witnessed_clock::steady_point::rep> fresh_until_{0};
    std::atomic<std::uint64_t> accepting_{0};
    std::array<std::atomic<std::uint64_t>, 2> asking_{};  // by the number of losses
    mutable std::mutex lock_;
    open_windows windows_;
    std::string epoch_;
    std::size_t gates_ = 1, gates_most_ = 1;
    bool follows_feed_ = false;
    bool knows_before_ = false;     // counts of all budgets of the hour before
    bool followed_before_ = false;  // knows_before_ will follow, once this hour's feed is read to its end
    std::unordered_map<std::uint64_t, budget_counts> counts_;
    std::unordered_map<std::uint64_t, in_hour_and_day> alone_;  // admitted
};

/// Shows what was heard last of each budget that the store counts in the figures of a gate, in place of its own counts.
void show_heard_counts(series_limiter& limiter, const fleet_view& view, fleet_rules& rules);

}  // namespace seriesgate
