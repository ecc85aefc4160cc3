#include "top/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace seriesgate::top {

std::string grouped(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    std::string text;
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at != 0 && (digits.size() - at) % 3 == 0) text += ',';
        text += digits[at];
    }
    return text;
}

std::string duration_text(std::chrono::seconds duration) {
    using std::chrono::floor;
    const auto minutes = floor<std::chrono::minutes>(duration);
    const auto hours = floor<std::chrono::hours>(duration);
    const auto days = floor<std::chrono::days>(duration);
    if (days.count() != 0) return fmt::format("{} d {} h", days.count(), (hours - days).count());
    if (hours.count() != 0) return fmt::format("{} h {} min", hours.count(), (minutes - hours).count());
    if (minutes.count() != 0) return fmt::format("{} min", minutes.count());
    return fmt::format("{} s", duration.count());
}

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
