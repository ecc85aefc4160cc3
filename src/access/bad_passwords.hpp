/// Passwords that proved wrong a short while ago.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <set>
#include <utility>

#include "access/keyed_digest.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// A sender with a wrong password comes again and again with the same one. Bounded: the oldest goes for the newest.
/// Threads: one.
class bad_passwords {
  public:
    using clock = monotonic_clock;

    static constexpr std::size_t kept_max = 4096;
    static constexpr std::chrono::seconds kept_for{60};

    void insert(const digest& one, clock::time_point now) {
        if (!kept_.insert(one).second) return;
        order_.emplace_back(now + kept_for, one);
        if (order_.size() > kept_max) forget_oldest();
    }

    [[nodiscard]] bool contains(const digest& one, clock::time_point now) {
        while (!order_.empty() && order_.front().first <= now) forget_oldest();
        return kept_.contains(one);
    }

    [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }

  private:
    void forget_oldest() {
        kept_.erase(order_.front().second);
        order_.pop_front();
    }

    std::set<digest> kept_;
    std::deque<std::pair<clock::time_point, digest>> order_;
};

}  // namespace seriesgate
