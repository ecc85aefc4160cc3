#include "process/persistence.hpp"

#include <ctime>
#include <stop_token>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace background_pace_test {
namespace {

using seconds = std::chrono::duration<double>;

double cpu_seconds() {
    std::timespec used{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

void work(seconds how_long) {
    const double end = cpu_seconds() + how_long.count();
    while (cpu_seconds() < end) {
    }
}

/// What `call` takes by the clock, per second that it works: 1 on a machine that does nothing else.
template <class Call>
double slowness(const Call& call) {
    const auto began = std::chrono::steady_clock::now();
    const double used = cpu_seconds();
    call();
    return seconds{std::chrono::steady_clock::now() - began}.count() / (cpu_seconds() - used);
}

}  // namespace

TEST_CASE("who keeps a pace works a tenth of the time, in long pieces or in short ones") {
    const auto piece = GENERATE(seconds{20ms}, seconds{100us});
    background_pace pace{std::stop_token{}};
    CHECK(slowness([&] {
              for (seconds done{0}; done < 60ms; done += piece) {
                  work(piece);
                  pace.rest();
              }
          }) > 8.5);
}

TEST_CASE("once it is time to stop, nobody rests") {
    std::stop_source stop;
    background_pace pace{stop.get_token()};
    stop.request_stop();
    work(500ms);
    const auto began = std::chrono::steady_clock::now();
    pace.rest();
    CHECK(seconds{std::chrono::steady_clock::now() - began} < 4s);  // of 4.5 s
}

TEST_CASE("what was worked before the pace was made is not rested for") {
    work(500ms);
    background_pace pace{std::stop_token{}};
    const auto began = std::chrono::steady_clock::now();
    pace.rest();
    CHECK(seconds{std::chrono::steady_clock::now() - began} < 4s);
}

}  // namespace background_pace_test
