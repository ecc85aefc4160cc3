#include "runtime.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace injected {

constinit int active = 0;
constinit bool recording = false;

namespace {

constexpr int number_max = 100'000;

constinit std::atomic<bool> seen[number_max]{};
constinit int file = -1;

/// Before any constructor of a global variable may ask.
[[gnu::constructor(101)]] void read_environment() {
    if (const char* number = std::getenv("SERIESGATE_MUTANT")) active = std::atoi(number);
    // Appended at once: a gate that is killed has noted what it reached.
    if (const char* path = std::getenv("SERIESGATE_MUTANTS_REACHED"))
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    recording = file >= 0 || std::getenv("SERIESGATE_MUTANTS_RECORD") != nullptr;
}

}  // namespace

void reach(int number) noexcept {
    if (number <= 0 || number >= number_max || seen[number].load(std::memory_order_relaxed)) return;
    if (seen[number].exchange(true) || file < 0) return;
    char line[16];
    const int size = std::snprintf(line, sizeof line, "%d\n", number);
    if (write(file, line, static_cast<std::size_t>(size)) < 0) recording = false;
}

std::string take_reached() {
    std::string all;
    for (int number = 1; number < number_max; ++number)
        if (seen[number].load(std::memory_order_relaxed) && seen[number].exchange(false))
            all += std::to_string(number) + ",";
    return all;
}

}  // namespace injected
