#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fuzz/small_limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/source_tree.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

// Else the fuzzer would start from states of an older format, and get no further than their first bytes.
TEST_CASE("the seeds of fuzz_snapshot are states that can be loaded") {
    std::size_t seeds = 0;
    for (const auto& file : std::filesystem::directory_iterator{source_tree() / "tests/fuzz/corpus/fuzz_snapshot"}) {
        CAPTURE(file.path().filename().string());
        std::ifstream in{file.path(), std::ios::binary};
        const std::string seed{std::istreambuf_iterator<char>{in}, {}};
        REQUIRE_FALSE(seed.empty());
        const auto [settings, now] = small_limiter_of(static_cast<std::uint8_t>(seed[0]));
        series_limiter limiter{settings, now};
        CHECK(restored(limiter, std::string_view{seed}.substr(1), now));
        ++seeds;
    }
    CHECK(seeds == 10);
}
