#include "simulation/virtual_time.hpp"

#include <algorithm>
#include <cassert>

#include "net/background.hpp"

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
}

virtual_time::duration virtual_time::wait_for(duration until) const noexcept {
    if (until < never) earliest_ = std::min(earliest_, now_ + std::max(until, duration::zero()));
    return duration::zero();
}

std::size_t virtual_time::poll() {
    std::size_t ran = 0;
    for (running& each : loops_) ran += poll_handlers(*each.loop);  // a handler may add one
    return ran;
}

void virtual_time::run_ready() {
    do earliest_ = time_point::max();
    while (poll() != 0);
}

bool virtual_time::go_to_earliest(time_point limit) {
    if (earliest_ >= limit) {
        now_ = std::max(now_, limit);
        return false;
    }
    now_ = std::max(now_, earliest_);
    return true;
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
