/// A clock that the test owns, and event loops that run by it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <optional>

#include "base/clock.hpp"
#include "net/async.hpp"

namespace seriesgate::testing {

/// The time stands still while anything is ready to run, and then goes to the earliest timer of all loops. So nothing
/// waits for a real clock, and the same steps come in the same order each time.
///
/// Asio asks wait_for() how long to sleep until its earliest timer, each time that a timer is set and each time that it
/// looks at them. Told that its timers' descriptor is ready, it looks in every poll, and we know when the earliest is
/// due. Source: Boost 1.81, asio/detail/impl/epoll_reactor.ipp, run() and get_timeout(); asio/wait_traits.hpp.
///
/// Threads: one. There is one at a time.
class virtual_time final : public virtual_clock {
  public:
    using duration = std::chrono::steady_clock::duration;
    using time_point = std::chrono::steady_clock::time_point;

    static constexpr auto noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 10} + std::chrono::hours{12};

    explicit virtual_time(std::chrono::system_clock::time_point begins = noon);
    virtual_time(const virtual_time&) = delete;
    virtual_time& operator=(const virtual_time&) = delete;
    ~virtual_time() override;

    /// Runs this loop, too, from now on, until it is removed.
    void add(net::io_context& loop) { loops_.push_back({&loop, now_, net::make_work_guard(loop)}); }
    void remove(net::io_context& loop) {
        std::erase_if(loops_, [&loop](const running& each) { return each.loop == &loop; });
    }

    /// Before the loops go.
    void remove_all() noexcept { loops_.clear(); }

    /// Runs until the condition holds. @return false if it does not within so much virtual time.
    bool run_until(const std::function<bool()>& holds, duration limit);
    void run_for(duration how_long);
    /// Runs what is ready, without the time going on.
    void run_ready();

    /// The time of day leaps, and the monotonic one does not.
    void set_time_of_day(std::chrono::system_clock::time_point to) noexcept {
        begins_ = to - (now_ - origin);
        stopped_.reset();
    }
    /// The same, and stands still there.
    void stop_time_of_day(std::chrono::system_clock::time_point at) noexcept { stopped_ = at; }

    [[nodiscard]] duration elapsed() const noexcept { return now_ - origin; }

    [[nodiscard]] time_point monotonic() const noexcept override { return now_; }
    [[nodiscard]] std::chrono::system_clock::time_point time_of_day() const noexcept override {
        return stopped_ ? *stopped_ : begins_ + (now_ - origin);
    }
    [[nodiscard]] duration wait_for(duration until) const noexcept override;

  private:
    static constexpr time_point origin{std::chrono::hours{24}};

    /// A loop that has nothing to do is not at its end.
    struct running {
        net::io_context* loop;
        time_point due;  // its earliest timer, as far as is known
        net::executor_work_guard<net::io_context::executor_type> goes_on;
    };

    std::size_t poll(running& one);
    bool go_to_earliest(time_point limit);

    std::list<running> loops_;
    std::chrono::system_clock::time_point begins_;
    std::optional<std::chrono::system_clock::time_point> stopped_{};
    time_point now_ = origin;
    mutable time_point earliest_ = time_point::max();  // of the timers of the loop that is polled
};

}  // namespace seriesgate::testing
