/// One gate's standing in its fleet: what it says in each heartbeat, and what it makes of the answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "claim/fleet_view.hpp"
#include "claim/store_call.hpp"

namespace seriesgate {

/// Who a gate is to its fleet.
struct gate_identity {
    std::string name;          ///< tells it from the others, and outlives a restart
    std::string version;       ///< of the program
    std::string fingerprints;  ///< what they depend on: gates that differ cannot share
};

/// Writes what it hears into the fleet_view. Pure: it is told the time. Threads: one.
class gate_session {
  public:
    using steady_point = witnessed_clock::steady_point;
    struct clocks {
        steady_point steady;
        time_point own;  ///< wall clock
    };
    /// The input of a heartbeat.
    struct facts {
        clocks at;
        std::chrono::seconds grace{};
        /// Of the refill, see heartbeat: nothing if none is under way.
        std::optional<std::uint64_t> refilled{};
        bool leaves = false;
        /// Whether the store has been told of all that passed.
        std::function<bool()> is_clean{};
    };
    enum class news : std::uint8_t {
        none,
        lost_data,    ///< the gate has to tell all that it knows again
        foreign,      ///< this gate must not join: others make other fingerprints
        wrong_clock,  ///< the store's; nothing it says is believed
    };

  private:
    fleet_view& view_;
    const gate_identity who_;
    bool has_series_;  // that a store may not know: it has to be told in the first epoch, too
    std::vector<gate_heard_of> gates_;
    bool names_gates_ = false;  // in the last heartbeat
    bool refills_ = false;      // this gate
    bool is_loss_ = false;      // it refills because the store has lost data; else because it started with series
    bool is_to_begin_ = false;
    std::int64_t told_ = -1;  // the hour in which it has said "told"
    std::int64_t lapsed_;     // the hour whose places have lapsed: a store that has lost its data does not know that

  public:
    /// @param has_series whether the gate knows series from before its start.
    /// @param began when it started. After the grace it accepts no incumbents in that hour: it may have told before.
    /// @param lapsed the hour whose places it knows to have lapsed, from before its start; -1: none.
    /// @param view outlives this.
    gate_session(fleet_view& view, gate_identity who, bool has_series, time_point began, std::chrono::seconds grace,
                 std::int64_t lapsed = -1)
        : view_(view), who_(std::move(who)), has_series_(has_series), lapsed_(lapsed) {
        if (began >= hour_of(began).start + grace) view_.accept_none(hour_number(began));
    }

    [[nodiscard]] heartbeat next(const facts& now);
    news take_answer(const heartbeat_answer& said, const clocks& at);
    /// No answer: the store cannot be reached.
    void lose_store() { view_.set_state(store_reach::away); }

    /// As the constructor's.
    [[nodiscard]] std::int64_t lapsed_hour() const noexcept { return lapsed_; }
    [[nodiscard]] const std::vector<gate_heard_of>& gates() const noexcept { return gates_; }
    /// This gate's rank among the gates, from 0 to 1. Its refill begins at that part of the table, so that gates share
    /// the work.
    [[nodiscard]] double place() const noexcept;
    /// Until then take_answer() returns lost_data: what fails in between is tried again.
    void begins_refill() noexcept { is_to_begin_ = false; }
    void has_refilled() noexcept { refills_ = refills_ && is_to_begin_; }

    /// Whether incumbents pass at once.
    [[nodiscard]] static bool accepts(const fleet_view& view, time_point now, const window_span& hour,
                                      std::chrono::seconds grace) noexcept {
        return view.state() != store_reach::joined || now < hour.start + grace;
    }
};

}  // namespace seriesgate
