/// Work that requests ask for and that none of them does.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "net/awaited.hpp"

namespace seriesgate {

/// Requests ask, and one thread that none of them can hold up does the work, in the order of asking. Whoever asks for
/// what is asked for already, and not begun, shares what comes of it: it is as new as every one of their questions.
/// Threads: ask() any; take() and rest() the one that works.
template <class Key, class Outcome>
class desk {
    using giver = typename awaited<Outcome>::giver;

  public:
    struct order {
        Key key;
        std::vector<giver> asking;

        void give(const Outcome& outcome) const {
            for (const giver& each : asking) each(outcome);
        }
    };

    /// Different things that may be asked for at a time.
    static constexpr std::size_t orders_max = 16;

    /// Asks and waits.
    /// @param ahead_max how many other things may be ahead of it.
    /// @return nothing if there are more, or if it takes longer than `limit`.
    net::awaitable<std::optional<Outcome>> ask(Key key, net::io_context& io, std::chrono::steady_clock::duration limit,
                                               std::size_t ahead_max = orders_max - 1) {
        awaited<Outcome> outcome{io};
        if (!add(key, outcome.to_give(), ahead_max)) co_return std::nullopt;
        co_return co_await outcome.wait(limit);
    }

    /// Asks for what nobody waits for.
    void ask(const Key& key) { add(key, std::nullopt, orders_max - 1); }

    /// Waits for what is asked for. @return nothing when it is time to stop.
    std::optional<order> take(const std::stop_token& stop) {
        std::unique_lock lock{guard_};
        if (!wake_.wait(lock, stop, [this] { return !orders_.empty(); })) return std::nullopt;
        std::optional<order> first{std::move(orders_.front())};
        orders_.pop_front();
        return first;
    }

    /// Lets the processor to others, and questions come together, until then or until it is time to stop.
    void rest(const std::stop_token& stop, std::chrono::steady_clock::time_point until) {
        std::unique_lock lock{guard_};
        wake_.wait_until(lock, stop, until, [] { return false; });
    }

  private:
    bool add(const Key& key, std::optional<giver> asking, std::size_t ahead_max) {
        const std::scoped_lock lock{guard_};
        auto found = std::ranges::find(orders_, key, &order::key);
        if (found == orders_.end()) {
            if (orders_.size() > ahead_max) return false;
            found = orders_.insert(orders_.end(), order{key, {}});
            wake_.notify_one();
        }
        if (asking) found->asking.push_back(std::move(*asking));
        return true;
    }

    std::mutex guard_;
    std::condition_variable_any wake_;
    std::deque<order> orders_;
};

}  // namespace seriesgate
