#include "config/units.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
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

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t zeros_max = 20;  // more than 64 bits have digits

/// By how many zeros they stand for.
constexpr std::array<unit, 4> magnitudes{{{"k", 3}, {"K", 3}, {"M", 6}, {"G", 9}}};

/// A number without its groups: `1_000_000` is 1000000. Nothing if they are not of three digits.
std::optional<std::string> without_groups(std::string_view text) {
    auto end = text.find('_');
    std::string joined{text.substr(0, end)};
    if (end == std::string_view::npos) return joined;
    if (!is_digits(joined) || joined.size() > 3) return std::nullopt;
    while (end != std::string_view::npos) {
        text.remove_prefix(end + 1);
        end = text.find('_');
        const auto group = text.substr(0, end);
        if (group.size() != 3 || !is_digits(group)) return std::nullopt;
        joined += group;
    }
    return joined;
}

/// Takes what multiplies the number, `M` or `e6`, from its end. @return how many zeros it has, none if there is nothing
/// of the kind; nothing if it is none that is known.
std::optional<std::size_t> take_zeros(std::string_view& text) noexcept {
    for (const unit& each : magnitudes) {
        if (!text.ends_with(each.name)) continue;
        text.remove_suffix(each.name.size());
        return static_cast<std::size_t>(each.factor);
    }
    const auto at = text.find_first_of("eE");
    if (at == std::string_view::npos) return 0;
    auto exponent = text.substr(at + 1);
    text = text.substr(0, at);
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const auto zeros = is_digits(exponent) ? take_number(exponent) : std::nullopt;
    return zeros ? std::optional{std::min<std::size_t>(*zeros, zeros_max)} : std::nullopt;
}

/// Whether nothing but its size can be wrong with a number: no zero in front, and a fraction only of something large.
bool is_plain(std::string_view number, std::size_t zeros) noexcept {
    const auto point = number.find('.');
    const auto whole = number.substr(0, point);
    if (!is_digits(whole) || (whole.size() > 1 && whole.starts_with('0'))) return false;
    return point == std::string_view::npos || (zeros > 0 && is_digits(number.substr(point + 1)));
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
        if (!add_product(bytes, *number, each.factor, most)) return std::nullopt;
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
    return error == std::errc{} ? number : most;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
    const auto zeros = take_zeros(text);
    const auto number = without_groups(text);
    if (!zeros || !number || !is_plain(*number, *zeros)) return std::nullopt;
    return shifted(*number, *zeros);
}

}  // namespace seriesgate
