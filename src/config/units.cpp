#include "config/units.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace seriesgate {
namespace {

struct unit {
    std::string_view name;
    std::uint64_t factor;
};

// From large to small, which is also the order within a combination.
constexpr std::array<unit, 5> duration_units{{
    {"d", 24 * 60 * 60 * 1000},
    {"h", 60 * 60 * 1000},
    {"m", 60 * 1000},
    {"s", 1000},
    {"ms", 1},
}};

constexpr std::array<unit, 10> size_units{{
    {"GiB", 1ull << 30},
    {"MiB", 1ull << 20},
    {"KiB", 1ull << 10},
    {"Gi", 1ull << 30},
    {"Mi", 1ull << 20},
    {"Ki", 1ull << 10},
    {"GB", 1'000'000'000},
    {"MB", 1'000'000},
    {"KB", 1'000},
    {"B", 1},
}};

// Takes the digits at the front. Nothing if there are none or they do not fit.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

// Takes the letters at the front.
std::string_view take_name(std::string_view& text) noexcept {
    const auto name = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(name.size());
    return name;
}

bool add_product(std::uint64_t& sum, std::uint64_t a, std::uint64_t b, std::uint64_t max) noexcept {
    assert(sum <= max);
    if (b != 0 && a > (max - sum) / b) return false;
    sum += a * b;
    return true;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
    if (text == "0") return std::chrono::milliseconds{0};
    if (text.empty()) return std::nullopt;
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t sum = 0;
    auto next = duration_units.begin();
    while (!text.empty()) {
        const auto number = take_number(text);
        if (!number) return std::nullopt;
        const auto name = take_name(text);
        while (next != duration_units.end() && next->name != name) ++next;
        if (next == duration_units.end() || !add_product(sum, *number, next->factor, max)) return std::nullopt;
        ++next;
    }
    return std::chrono::milliseconds{static_cast<std::int64_t>(sum)};
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    if (text.empty()) return number;
    for (const unit& each : size_units) {
        if (each.name != text) continue;
        std::uint64_t bytes = 0;
        if (!add_product(bytes, *number, each.factor, std::numeric_limits<std::uint64_t>::max())) return std::nullopt;
        return bytes;
    }
    return std::nullopt;
}

std::string format_duration(std::chrono::milliseconds duration) {
    assert(duration.count() >= 0);
    auto rest = static_cast<std::uint64_t>(duration.count());
    if (rest == 0) return "0s";
    std::string text;
    for (const unit& each : duration_units) {
        if (rest < each.factor) continue;
        text += std::to_string(rest / each.factor);
        text += each.name;
        rest %= each.factor;
    }
    return text;
}

std::string format_size(std::uint64_t bytes) {
    if (bytes == 0) return "0B";
    for (const unit& each : size_units) {
        if (std::has_single_bit(each.factor) && bytes % each.factor == 0) {
            return std::to_string(bytes / each.factor) + std::string{each.name};
        }
    }
    return std::to_string(bytes) + "B";  // not reached: every number divides by the last unit, 1
}

std::string format_rate(double rate) {
    std::array<char, 32> text;
    char* const last = text.data() + text.size();
    auto [end, error] = std::to_chars(text.data(), last, rate, std::chars_format::fixed);
    if (error != std::errc{}) end = std::to_chars(text.data(), last, rate).ptr;  // at most 24 characters: 1.5e+300
    return {text.data(), end};
}

}  // namespace seriesgate
