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

std::size_t virtual_time::poll(running& one) {
    earliest_ = time_point::max();
    const std::size_t ran = poll_handlers(*one.loop);
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
