#include "app/demand_watch.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>

#include "demand/observed_demand.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

/// The limiter keeps what has ended until it is fetched: nothing hurries.
constexpr auto demand_interval = std::chrono::seconds{1};

}  // namespace

void watch_demand(const std::stop_token& stop, observed_demand& demand, series_limiter& limiter,
                  const std::function<time_point()>& now) {
    std::mutex idle;
    std::condition_variable_any wake;
    std::unique_lock lock{idle};
    while (!wake.wait_for(lock, stop, demand_interval, [] { return false; }) && !stop.stop_requested()) {
        if (limiter.clock_in_doubt()) continue;
        try {
            demand.look(limiter, now());
        } catch (const std::bad_alloc&) {  // maintenance says so; an hour's figures are worth no more than a gap
        }
    }
}

}  // namespace seriesgate
