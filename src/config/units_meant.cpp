#include "config/units_meant.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>

#include "config/decimals.hpp"
#include "config/units.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

/// In lower case, as others write it.
struct foreign_unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<foreign_unit, 19> size_units_meant{{{"", 1},
                                                         {"b", 1},
                                                         {"byte", 1},
                                                         {"bytes", 1},
                                                         {"ki", 1ull << 10},
                                                         {"kib", 1ull << 10},
                                                         {"kb", 1'000},
                                                         {"k", 1ull << 10},
                                                         {"mi", 1ull << 20},
                                                         {"mib", 1ull << 20},
                                                         {"mb", 1'000'000},
                                                         {"m", 1ull << 20},
                                                         {"gi", 1ull << 30},
                                                         {"gib", 1ull << 30},
                                                         {"gb", 1'000'000'000},
                                                         {"g", 1ull << 30},
                                                         {"ti", 1ull << 40},
                                                         {"tib", 1ull << 40},
                                                         {"tb", 1'000'000'000'000}}};

constexpr std::uint64_t second = 1'000;
constexpr std::uint64_t minute = 60 * second;
constexpr std::uint64_t hour = 60 * minute;
constexpr std::uint64_t day = 24 * hour;

constexpr std::array<foreign_unit, 24> duration_units_meant{
    {{"ms", 1},     {"msec", 1},     {"msecs", 1},     {"millis", 1},      {"milliseconds", 1},
     {"s", second}, {"sec", second}, {"secs", second}, {"second", second}, {"seconds", second},
     {"m", minute}, {"min", minute}, {"mins", minute}, {"minute", minute}, {"minutes", minute},
     {"h", hour},   {"hr", hour},    {"hrs", hour},    {"hour", hour},     {"hours", hour},
     {"d", day},    {"day", day},    {"days", day},    {"w", 7 * day}}};

constexpr std::array<std::string_view, 5> yes{"true", "yes", "on", "y", "1"};
constexpr std::array<std::string_view, 5> no{"false", "no", "off", "n", "0"};

/// Takes a number and its unit from the front, and spaces. @return what they come to.
std::optional<std::uint64_t> take_measure(std::string_view& text, std::span<const foreign_unit> units) {
    const auto number = text.substr(0, text.find_first_not_of("0123456789."));
    text.remove_prefix(number.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::string name = in_lower_case(text.substr(0, text.find_first_of("0123456789. ")));
    text.remove_prefix(name.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto unit = std::ranges::find(units, name, &foreign_unit::name);
    return unit == units.end() ? std::nullopt : whole_product(number, unit->factor);
}

/// In the largest unit that 1000 divides evenly.
std::string format_decimal_size(std::uint64_t bytes) {
    std::uint64_t factor = 1'000'000'000;
    for (const std::string_view unit : {"GB", "MB", "KB"}) {
        if (bytes % factor == 0) return std::to_string(bytes / factor).append(unit);
        factor /= 1'000;
    }
    return std::to_string(bytes);
}

}  // namespace

std::string size_meant(std::string_view text) {
    const auto unit = text.substr(std::min(text.find_first_not_of("0123456789. "), text.size()));
    const auto number = text.substr(0, text.size() - unit.size());
    const bool is_decimal = unit.size() == 2 && (unit[1] == 'b' || unit[1] == 'B');
    const bool is_either = unit.size() == 1 && unit != "B" && unit != "b";  // a k is 1000 for some, 1024 for others
    auto rest = text;
    const auto bytes = take_measure(rest, size_units_meant);
    if (!bytes || !rest.empty() || *bytes == 0) return "";
    if (is_decimal) return format_decimal_size(*bytes);
    if (!is_either) return format_size(*bytes);
    const std::string other = std::string{number}.append(unit).append("B");
    rest = other;
    const auto decimal = take_measure(rest, size_units_meant);
    return decimal ? format_size(*bytes) + " or " + format_decimal_size(*decimal) : format_size(*bytes);
}

std::string duration_meant(std::string_view text) {
    if (is_digits(text)) return std::string{text} + "s";
    std::uint64_t sum = 0;
    while (!text.empty()) {
        const auto part = take_measure(text, duration_units_meant);
        if (!part || *part > 366 * day) return "";
        sum += *part;
    }
    return sum == 0 ? "" : format_duration(std::chrono::milliseconds{sum});
}

std::string rate_meant(std::string_view text) {
    std::string number{text};
    std::ranges::replace(number, ',', '.');
    const bool is_percent = number.ends_with('%');
    if (is_percent) number.replace(number.size() - 1, 1, "e-2");
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc{} || end != number.data() + number.size()) return "";
    return format_rate(value);
}

std::string flag_meant(std::string_view text) {
    const std::string word = in_lower_case(text);
    if (std::ranges::count(yes, word) != 0) return "true";
    return std::ranges::count(no, word) != 0 ? "false" : "";
}

}  // namespace seriesgate
