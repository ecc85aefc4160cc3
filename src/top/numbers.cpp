#include "top/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace seriesgate::top {

std::string clock_text(std::chrono::sys_seconds when) {
    const std::chrono::hh_mm_ss time{when - std::chrono::floor<std::chrono::days>(when)};
    return fmt::format("{:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(), time.seconds().count());
}

std::uint64_t percent(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return 0;
    return static_cast<std::uint64_t>(
        std::min(100.0L * static_cast<long double>(part) / static_cast<long double>(whole), 999.0L));
}

std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns) {
    assert(columns >= 2);
    const std::size_t room = columns - 2;
    const std::size_t filled = std::min<std::size_t>(room, percent(part, whole) * room / 100);
    return std::string{"["}.append(filled, '#').append(room - filled, '-').append("]");
}

}  // namespace seriesgate::top
