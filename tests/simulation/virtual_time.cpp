#include "simulation/virtual_time.hpp"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <csignal>
#include <exception>
#include <map>
#include <set>

#include "base/log.hpp"
#include "net/event_loop.hpp"

namespace {

/// What an event loop is told when the descriptor of its timers is ready, by the loop's epoll descriptor.
std::map<int, epoll_event>& timer_events() {
    static std::map<int, epoll_event> all;
    return all;
}
std::set<int>& timer_descriptors() {
    static std::set<int> all;
    return all;
}

bool is_time_ours() {
    return seriesgate::virtual_clock::installed() != nullptr;
}

}  // namespace

// In place of the C library's, for the event loops of Asio. Where a test owns the time, the kernel has no news for any
// of them, and the descriptor of their timers is always ready. Four fifths of a history's time were these calls.

extern "C" int timerfd_create(int clock, int flags) noexcept {
    const int made = static_cast<int>(::syscall(SYS_timerfd_create, clock, flags));
    if (is_time_ours()) timer_descriptors().insert(made);
    return made;
}

extern "C" int timerfd_settime(int timer, int flags, const itimerspec* to, itimerspec* before) noexcept {
    if (is_time_ours()) return 0;
    return static_cast<int>(::syscall(SYS_timerfd_settime, timer, flags, to, before));
}

extern "C" int epoll_ctl(int loop, int what, int descriptor, epoll_event* event) noexcept {
    if (what == EPOLL_CTL_ADD && is_time_ours() && timer_descriptors().contains(descriptor))
        timer_events()[loop] = *event;
    return static_cast<int>(::syscall(SYS_epoll_ctl, loop, what, descriptor, event));
}

extern "C" int epoll_wait(int loop, epoll_event* events, int most, int timeout) {
    if (timeout == 0 && is_time_ours()) {
        *events = timer_events().at(loop);
        return 1;
    }
    return static_cast<int>(::syscall(SYS_epoll_pwait, loop, events, most, timeout, nullptr, _NSIG / 8));
}

namespace seriesgate::testing {
namespace {

/// Timers that are set to the end of time never run out.
constexpr virtual_time::duration never = std::chrono::hours{24 * 365};

}  // namespace

virtual_time::virtual_time(std::chrono::system_clock::time_point begins) : begins_(begins) {
    assert(virtual_clock::installed() == nullptr);
    install(this);
}

virtual_time::~virtual_time() {
    install(nullptr);
    timer_descriptors().clear();  // other descriptors get their numbers
    timer_events().clear();
}

virtual_time::duration virtual_time::wait_for(duration until) const noexcept {
    if (until < never) earliest_ = std::min(earliest_, now_ + std::max(until, duration::zero()));
    return duration::zero();
}

std::size_t virtual_time::poll(running& one) {
    earliest_ = time_point::max();
    std::size_t ran = 1;
    try {
        ran = one.loop->poll();
    } catch (const std::exception& error) {  // as in run_handlers()
        log::error("a handler failed", {{"err", error.what()}});
    }
    one.due = earliest_;
    return ran;
}

/// First come the loops whose timers are due. Then rounds over all of them follow, until one finds nothing: only
/// handlers make others ready. The loop that ran last is quiet, for a poll ends when nothing is ready.
void virtual_time::run_ready() {
    const auto is_due = [this](const running& each) { return each.due <= now_; };
    const running* last = nullptr;  // that ran anything
    for (running& each : loops_)
        if (is_due(each) && poll(each) != 0) last = &each;
    for (bool all_quiet = false; !all_quiet;) {
        all_quiet = true;
        for (running& each : loops_) {
            if (&each == last) continue;
            if (poll(each) == 0) continue;
            last = &each;
            all_quiet = false;
        }
    }
}

bool virtual_time::go_to_earliest(time_point limit) {
    const auto first = std::ranges::min_element(loops_, {}, &running::due)->due;
    now_ = std::max(now_, std::min(first, limit));
    return first < limit;
}

bool virtual_time::run_until(const std::function<bool()>& holds, duration limit) {
    const time_point end = now_ + limit;
    for (;;) {
        run_ready();
        if (holds()) return true;
        if (!go_to_earliest(end)) break;
    }
    run_ready();
    return holds();
}

void virtual_time::run_for(duration how_long) {
    run_until([] { return false; }, how_long);
}

}  // namespace seriesgate::testing
