#include "process/maintenance.hpp"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "support/captured_log.hpp"
#include "support/catch.hpp"
#include "support/running_loop.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using clock = std::chrono::steady_clock;

bool comes_to(const std::atomic<int>& looks, int wanted) {
    const auto end = clock::now() + 30s;
    while (looks < wanted && clock::now() < end) std::this_thread::sleep_for(1ms);
    return looks >= wanted;
}

}  // namespace

TEST_CASE("files are looked at when it is asked for, not only when a second has passed") {
    file_poller files;
    std::atomic<int> looks = 0;
    const std::vector<file_check> checks{[&](const file_look&) { ++looks; }};
    const running_loop looking{[&] { return files.run(checks); }};
    REQUIRE(comes_to(looks, 1));
    const auto began = clock::now();
    for (int i = 2; i < 22; ++i) {
        files.ask();
        REQUIRE(comes_to(looks, i));
    }
    CHECK(clock::now() - began < 10s);  // of twenty seconds that it would have been
    REQUIRE(comes_to(looks, 23));       // and unasked
}

TEST_CASE("a look that fails is heard of, and keeps the others from nothing") {
    const captured_log said;
    file_poller files;
    std::atomic<int> looks = 0;
    const std::vector<file_check> checks{[](const file_look&) { throw std::runtime_error("no memory"); },
                                         [&](const file_look&) { ++looks; }};
    {
        const running_loop looking{[&] { return files.run(checks); }};
        REQUIRE(comes_to(looks, 1));
    }
    CHECK(said.text().find("level=error msg=\"files not looked at\" err=\"no memory\"\n") == 0);
}
