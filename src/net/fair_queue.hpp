/// Who asks the shared store next.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"

namespace seriesgate {

/// A bounded number of claims under way, and a bounded number that wait; those wait by key, and keys take turns:
/// one with an explosion does not keep the others from asking. Threads: the worker's.
class fair_queue {
    struct waiter {
        async_timer wakes;
        bool has_turn = false;
    };
    using queue = std::deque<std::shared_ptr<waiter>>;

    net::io_context& io_;
    std::size_t free_;
    const std::size_t waiting_max_;
    std::size_t waiting_ = 0;
    std::map<std::string, queue, std::less<>> by_key_;  // none is empty
    std::string last_;                                  // key that was served
    const std::shared_ptr<fair_queue*> here_;           // null when it has gone

  public:
    using clock = monotonic_clock;

    /// The right to ask; goes on to the next when it is destroyed. It may outlive the queue: what was under way
    /// when its worker ended does.
    class turn {
        std::shared_ptr<fair_queue*> of_;  // null: none

      public:
        explicit turn(std::shared_ptr<fair_queue*> of) noexcept : of_(std::move(of)) {}
        turn(turn&& other) noexcept = default;
        turn& operator=(turn&& other) noexcept {
            std::swap(of_, other.of_);
            return *this;
        }
        ~turn() {
            if (of_ && *of_ != nullptr) (*of_)->pass_on();
        }
        /// Whether there is one: not if too many wait, or it did not come in time.
        explicit operator bool() const noexcept { return of_ != nullptr; }
    };

    fair_queue(net::io_context& io, std::size_t at_once, std::size_t waiting_max)
        : io_(io), free_(at_once), waiting_max_(waiting_max), here_(std::make_shared<fair_queue*>(this)) {}
    ~fair_queue() { *here_ = nullptr; }

    net::awaitable<turn> take(std::string_view key, clock::time_point limit);

    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }

  private:
    void pass_on() noexcept;
    void leave(std::string_view key, const std::shared_ptr<waiter>& gone);
};

}  // namespace seriesgate
