#include "app/background_pace.hpp"

#include <utility>

#include "system/clock.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Less is left to come together.
constexpr auto worked_min = 500us;

}  // namespace

background_pace::background_pace(std::stop_token stop) : stop_(std::move(stop)), rested_for_(thread_cpu_clock::now()) {}

void background_pace::rest() {
    const auto used = thread_cpu_clock::now();
    const auto worked = used - rested_for_;
    if (worked < worked_min) return;
    rested_for_ = used;
    std::unique_lock lock{idle_};
    wake_.wait_for(lock, stop_, rests_per_work * worked, [] { return false; });
}

}  // namespace seriesgate
