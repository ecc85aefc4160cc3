#include "config/units.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <limits>
#include <system_error>

#include "core/text.hpp"

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

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
    if (text == "0") return std::chrono::milliseconds{0};
    if (text.empty()) return std::nullopt;
    std::int64_t sum = 0, part = 0;
    auto next = duration_units.begin();
    while (!text.empty()) {
        const auto number = take_number(text);
        if (!number) return std::nullopt;
        const auto name = text.substr(0, text.find_first_of("0123456789"));
        text.remove_prefix(name.size());
        while (next != duration_units.end() && next->name != name) ++next;
        if (next == duration_units.end() || __builtin_mul_overflow(*number, next->factor, &part) ||
            __builtin_add_overflow(sum, part, &sum))
            return std::nullopt;
        ++next;
    }
    return std::chrono::milliseconds{sum};
}

std::optional<std::uint64_t> parse_size(std::string_view text) noexcept {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    if (text.empty()) return number;
    for (const unit& each : size_units) {
        if (each.name != text) continue;
        std::uint64_t bytes = 0;
        return __builtin_mul_overflow(*number, each.factor, &bytes) ? std::nullopt : std::optional{bytes};
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
    const unit& fits = *std::ranges::find_if(size_units, [bytes](const unit& each) {
        return std::has_single_bit(each.factor) && bytes % each.factor == 0;  // as it does by the last one, 1
    });
    return std::to_string(bytes / fits.factor) + std::string{fits.name};
}

std::string format_rate(double rate) {
    std::array<char, 32> text;
    char* const last = text.data() + text.size();
    auto [end, error] = std::to_chars(text.data(), last, rate, std::chars_format::fixed);
    if (error != std::errc{}) end = std::to_chars(text.data(), last, rate).ptr;  // at most 24 characters: 1.5e+300
    return {text.data(), end};
}

bool is_digits(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::uint64_t> shifted(std::string_view text, std::size_t zeros) {
    const auto point = text.find('.');
    std::string digits{text.substr(0, point)};
    std::string_view fraction = point == std::string_view::npos ? "0" : text.substr(point + 1);
    if (!is_digits(digits) || !is_digits(fraction)) return std::nullopt;
    while (fraction.ends_with('0')) fraction.remove_suffix(1);
    if (fraction.size() > zeros) return std::nullopt;
    digits.append(fraction).append(zeros - fraction.size(), '0');
    std::uint64_t number = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec;
    return error == std::errc{} ? number : std::numeric_limits<std::uint64_t>::max();
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    static const re2::RE2 form{
        "(0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:_[0-9]{3})+)"     // whole, in groups or not
        "(?:[.]([0-9]+))?(?:([kKMG])|[eE][+]?([0-9]+))?"};  // fraction, unit, exponent
    std::string number, fraction, letter, exponent;
    if (!re2::RE2::FullMatch({text.data(), text.size()}, form, &number, &fraction, &letter, &exponent))
        return std::nullopt;
    constexpr std::size_t zeros_max = 20;  // more than 64 bits have digits
    const auto zeros = whole_number<std::size_t>(!exponent.empty() ? exponent
                                                 : letter.empty()  ? "0"
                                                 : letter == "G"   ? "9"
                                                 : letter == "M"   ? "6"
                                                                   : "3");
    if (!zeros || (*zeros == 0 && !fraction.empty())) return std::nullopt;
    std::erase(number, '_');
    if (!fraction.empty()) number += "." + fraction;
    return shifted(number, std::min(*zeros, zeros_max));
}

}  // namespace seriesgate
