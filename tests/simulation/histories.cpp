/// Runs random histories: histories [--first N] [--count N | --seconds N]
///
/// The last line says which seed comes next, for who goes on later. Exit status: 0, or 1 if something did not hold;
/// each such seed has a line of its own, and runs alone with --first SEED --count 1.

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "simulation/history.hpp"

int main(int argc, char** argv) {
    using clock = std::chrono::steady_clock;
    std::uint64_t first = 1, count = 100, seconds = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
        (name == "--first" ? first : name == "--count" ? count : seconds) = value;
    }
    const auto began = clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(clock::now() - began).count(); };
    std::uint64_t seed = first, wrong = 0, requests = 0, accepted = 0, faults = 0;
    for (; seconds != 0 ? passed() < static_cast<double>(seconds) : seed < first + count; ++seed) {
        const auto made = seriesgate::testing::run_history(seed);
        requests += made.requests;
        accepted += made.accepted;
        faults += made.faults;
        if (made.violations.empty()) continue;
        ++wrong;
        for (const std::string& each : made.violations) fmt::print("seed {}: not so: {}\n", seed, each);
    }
    fmt::print("{} histories in {:.1f} s: {} requests, {} acknowledged, {} faults; {} histories went wrong\n",
               seed - first, passed(), requests, accepted, faults, wrong);
    fmt::print("next seed: {}\n", seed);
    return wrong == 0 ? 0 : 1;
}
