#include "app/maintenance.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>

#include "limit/limiter.hpp"
#include "limit/window_sets.hpp"
#include "log/log.hpp"
#include "talkers/talkers.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Between two looks at whether a filter wants to grow or a window's end is near. Far shorter than it takes a request
/// flood to fill the filter's spare room.
constexpr auto maintenance_interval = 20ms;
constexpr auto pause_after_failure = 1s;

}  // namespace

void maintain(const std::stop_token& stop, series_limiter& limiter, talkers& who,
              const std::function<time_point()>& now) {
    std::mutex idle;
    std::condition_variable_any wake;
    std::unique_lock lock{idle};
    bool in_doubt = false;
    while (!stop.stop_requested()) {
        try {
            limiter.maintain(now());
            if (!limiter.clock_in_doubt()) who.maintain(now());
            if (limiter.clock_in_doubt() && !in_doubt)
                log::warn("the clock has leapt by over an hour", {{"believed_in_minutes", clock_doubt.count()}});
            in_doubt = limiter.clock_in_doubt();
        } catch (const std::exception& error) {
            // Mostly no memory for a larger filter: requests that need it make it themselves, or are answered 503.
            // Whatever it is, it is no reason to end.
            log::error("series filters not maintained", {{"err", error.what()}});
            wake.wait_for(lock, stop, pause_after_failure, [] { return false; });
        }
        wake.wait_for(lock, stop, maintenance_interval, [] { return false; });
    }
}

}  // namespace seriesgate
