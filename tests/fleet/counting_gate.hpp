/// A store and its only gate, which has series counted: for tests and benchmarks of what is in a store.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "fleet/shared_store.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

class counting_gate {
    static constexpr std::size_t pipelined = 8;

    shared_store store_;
    gate_terms terms_;
    std::string server_;
    open_windows windows_;
    std::deque<store_call> under_way_;
    std::uint64_t taken_ = 0;

  public:
    /// @param server the run_id that the counts belong to.
    explicit counting_gate(gate_terms terms, std::string server = "s")
        : terms_(std::move(terms)), server_(std::move(server)) {
        heartbeat beat{.gate = terms_.gate, .fingerprints = "f", .version = "1"};
        for (const int second : {0, 2, 4}) {  // until no refill is waited for
            beat.clock = time_point{std::chrono::hours{terms_.hour} + std::chrono::seconds{second}};
            terms_.epoch = beat.epoch = store_.beat(beat, server_, beat.clock).state.epoch;
        }
        enter(terms_.hour);
    }

    /// @param room series that a new window is made for.
    void enter(std::int64_t hour, std::uint64_t room = 0) {
        if (room != 0) terms_.room = room;
        terms_.hour = hour;
        terms_.buckets = {};
        terms_.clock = time_point{std::chrono::hours{hour} + std::chrono::seconds{10}};
        terms_.buckets = store_.decide({}, terms_, server_, terms_.clock).windows.buckets;
        const store_answer answer = store_.decide({}, terms_, server_, terms_.clock);
        if (answer.status != store_status::decided) throw std::runtime_error{"no window"};
        windows_ = answer.windows;
    }

    /// As many calls are under way at once as a busy fleet has.
    void send(store_call asked) {
        store_.send(asked, terms_, server_);
        under_way_.push_back(std::move(asked));
        if (under_way_.size() == pipelined) receive();
    }
    /// Waits for all answers. @return series that were taken since the last time.
    std::uint64_t finish() {
        while (!under_way_.empty()) receive();
        return std::exchange(taken_, 0);
    }

    /// Claims series number `first`, `first` + 1, ... in one budget of terms.limits.front(). @return as finish().
    std::uint64_t take(std::uint64_t first, std::uint64_t count, std::uint64_t budget, std::uint64_t maximum) {
        for (std::uint64_t at = first; at < first + count; at += call_series_max) {
            store_call asked{
                .budgets = {{.id = budget, .limit = terms_.limits.front(), .maxima = {.hourly = maximum}}}};
            for (std::uint64_t i = at; i < std::min(at + call_series_max, first + count); ++i)
                asked.fingerprints.push_back(fingerprint_of(i));
            asked.runs = {{.series = static_cast<std::uint32_t>(asked.fingerprints.size()), .budgets = {0}}};
            send(std::move(asked));
        }
        return finish();
    }

    shared_store& store() { return store_; }
    store_connection& connection() { return store_.connection(); }
    [[nodiscard]] const open_windows& windows() const { return windows_; }
    [[nodiscard]] const std::string& epoch() const { return terms_.epoch; }
    /// Of the open hour, or one some hours later.
    [[nodiscard]] std::string record(std::int64_t later = 0) const {
        return store_.keys().hour(windows_.generation, windows_.hour + later);
    }

  private:
    void receive() {
        const store_answer answer = store_.receive(under_way_.front());
        if (answer.status != store_status::decided) throw std::runtime_error{"a call that is not decided"};
        taken_ += static_cast<std::uint64_t>(
            std::ranges::count(answer.series, store_outcome::taken, &series_decision::outcome));
        under_way_.pop_front();
    }
};

}  // namespace seriesgate::testing
