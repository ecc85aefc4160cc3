#include "base/clock.hpp"

#include <thread>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

struct stopped_clock final : virtual_clock {
    std::chrono::steady_clock::time_point monotonic() const noexcept override {
        return std::chrono::steady_clock::time_point{5s};
    }
    std::chrono::system_clock::time_point time_of_day() const noexcept override {
        return std::chrono::system_clock::time_point{7s};
    }
    std::chrono::steady_clock::duration wait_for(std::chrono::steady_clock::duration until) const noexcept override {
        return until;
    }

    stopped_clock() { install(this); }
    ~stopped_clock() override { install(nullptr); }
};

}  // namespace

TEST_CASE("the clocks are the operating system's, and a test's while one is installed") {
    const auto before = std::chrono::steady_clock::now();
    CHECK(monotonic_clock::now() >= before);
    CHECK(wall_clock::now() + 1h > std::chrono::system_clock::now());
    {
        const stopped_clock owned;
        CHECK(monotonic_clock::now().time_since_epoch() == 5s);
        CHECK(wall_clock::now().time_since_epoch() == 7s);
        CHECK(thread_cpu_clock::now() == 0s);
    }
    CHECK(monotonic_clock::now() >= before);
    CHECK(thread_cpu_clock::now() > 0s);
}

TEST_CASE("the time of a thread is what it works, not what it waits for") {
    const auto began = thread_cpu_clock::now();
    std::this_thread::sleep_for(30ms);
    const auto woken = thread_cpu_clock::now();
    CHECK(woken - began < 20ms);
    while (thread_cpu_clock::now() - woken < 2ms) continue;
}
