/// A queue that makes each page once for all who ask (single flight).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admin/api.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- The single-flight queue.

/// Requests add jobs; one event loop, which no request can block, does them in order. A request for a waiting job joins
/// it, so its outcome is never older than the request. Threads: ask() any; take() the working one, whose event loop
/// must outlive this object.
template <class Key, class Outcome>
class single_flight_queue {
    using giver = typename awaited<Outcome>::giver;

  public:
    struct job {
        Key key;
        std::vector<giver> asking;

        void give(const Outcome& outcome) const {
            for (const giver& each : asking) each(outcome);
        }
    };

    /// Most different jobs that may wait.
    static constexpr std::size_t jobs_max = 16;

    /// Adds a job, or joins it, and waits.
    /// @param ahead_max how many other jobs may be ahead.
    /// @return nothing if more are ahead, or after `limit`.
    net::awaitable<std::optional<Outcome>> ask(Key key, net::io_context& io, std::chrono::steady_clock::duration limit,
                                               std::size_t ahead_max = jobs_max - 1) {
        awaited<Outcome> outcome{io};
        if (!add(key, outcome.to_give(), ahead_max)) co_return std::nullopt;
        co_return co_await outcome.wait(limit);
    }

    void ask(const Key& key) { add(key, std::nullopt, jobs_max - 1); }

    /// Threads: one coroutine at a time.
    net::awaitable<job> take() {
        const auto asked = std::make_shared<async_event>(co_await net::this_coro::executor);
        for (;;) {
            auto first = first_or_wake(asked);
            if (first) co_return std::move(*first);
            co_await asked->wait();
        }
    }

  private:
    /// @return nothing if there is no job; then `asked` is notified of the next.
    std::optional<job> first_or_wake(const std::shared_ptr<async_event>& asked) {
        const std::scoped_lock lock{guard_};
        if (jobs_.empty()) {
            waits_ = asked;
            return std::nullopt;
        }
        std::optional<job> first{std::move(jobs_.front())};
        jobs_.pop_front();
        return first;
    }

    bool add(const Key& key, std::optional<giver> asking, std::size_t ahead_max) {
        const std::scoped_lock lock{guard_};
        auto found = std::ranges::find(jobs_, key, &job::key);
        if (found == jobs_.end()) {
            if (jobs_.size() > ahead_max) return false;
            found = jobs_.insert(jobs_.end(), job{key, {}});
            if (const auto waits = waits_.lock()) waits->notify();
        }
        if (asking) found->asking.push_back(std::move(*asking));
        return true;
    }

    std::mutex guard_;
    std::weak_ptr<async_event> waits_;  // of the coroutine in take(); belongs to its event loop
    std::deque<job> jobs_;
};

// --- Pages.

/// A text shared by all its readers. Null: none can be made now.
using page_text = std::shared_ptr<const std::string>;

using page_queue = single_flight_queue<api_question, page_text>;

}  // namespace seriesgate
