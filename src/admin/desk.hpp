/// Work that requests ask for and that none of them does.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "net/async.hpp"

namespace seriesgate {

/// Requests ask, and one event loop that none of them can hold up does the work, in the order of asking. Whoever asks
/// for what is asked for already, and not begun, shares what comes of it: it is as new as every one of their questions.
/// Threads: ask() any; take() the one that works, whose event loop outlives this.
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

    /// Waits for what is asked for. One coroutine at a time.
    net::awaitable<order> take() {
        const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
        for (;;) {
            auto first = first_or_wake(asked);
            if (first) co_return std::move(*first);
            co_await asked->wait();
        }
    }

  private:
    /// @return nothing if nothing is asked for; then `asked` is notified of what comes.
    std::optional<order> first_or_wake(const std::shared_ptr<async_event>& asked) {
        const std::scoped_lock lock{guard_};
        if (orders_.empty()) {
            waits_ = asked;
            return std::nullopt;
        }
        std::optional<order> first{std::move(orders_.front())};
        orders_.pop_front();
        return first;
    }

    bool add(const Key& key, std::optional<giver> asking, std::size_t ahead_max) {
        const std::scoped_lock lock{guard_};
        auto found = std::ranges::find(orders_, key, &order::key);
        if (found == orders_.end()) {
            if (orders_.size() > ahead_max) return false;
            found = orders_.insert(orders_.end(), order{key, {}});
            if (const auto waits = waits_.lock()) waits->notify();
        }
        if (asking) found->asking.push_back(std::move(*asking));
        return true;
    }

    std::mutex guard_;
    std::weak_ptr<async_event> waits_;  // the one that works; its event goes with its event loop
    std::deque<order> orders_;
};

}  // namespace seriesgate
