/// A bounded queue that serves keys (senders, tenants) in turn.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "net/async.hpp"

namespace seriesgate {

/// Bounds how many hold a turn at a time, and how many wait. Keys take turns, so that one busy key does not delay the
/// others. Threads: the worker's.
class fair_queue {
    struct waiter {
        async_timer wakes;
        std::string key;
        bool has_turn = false;
    };
    using queue = std::deque<std::shared_ptr<waiter>>;

    /// Leaves the queue with its coroutine, also if Asio destroys that because the wait found no memory to begin.
    struct place {
        std::shared_ptr<fair_queue*> of;
        std::shared_ptr<waiter> self;  // null once it needs no leaving

        ~place() {
            if (self && *of != nullptr) (*of)->leave(self);
        }
    };

    net::io_context& io_;
    std::size_t free_;
    const std::size_t waiting_max_;
    std::size_t waiting_ = 0;
    std::map<std::string, queue, std::less<>> by_key_;  // no queue is empty
    std::string last_;                                  // key served last
    const std::shared_ptr<fair_queue*> here_;           // null once the queue is destroyed

  public:
    using clock = monotonic_clock;

    struct pass {
        std::shared_ptr<fair_queue*> of;
        void operator()(fair_queue** from) const noexcept {
            if (*from != nullptr) (*from)->pass_on();
        }
    };
    /// A granted turn; passes to the next waiter when destroyed. May outlive the queue. Null if too many waited, or the
    /// time limit passed.
    using turn = std::unique_ptr<fair_queue*, pass>;

    fair_queue(net::io_context& io, std::size_t at_once, std::size_t waiting_max)
        : io_(io), free_(at_once), waiting_max_(waiting_max), here_(std::make_shared<fair_queue*>(this)) {}
    ~fair_queue() { *here_ = nullptr; }

    net::awaitable<turn> take(std::string_view key, clock::time_point limit);

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

  private:
    [[nodiscard]] turn grant() const noexcept { return {here_.get(), {here_}}; }
    void pass_on() noexcept;
    void leave(const std::shared_ptr<waiter>& gone) noexcept;
};

}  // namespace seriesgate
