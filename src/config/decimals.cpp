#include "config/decimals.hpp"

#include <cassert>
#include <charconv>
#include <cstddef>
#include <limits>
#include <numeric>
#include <system_error>

namespace seriesgate {
namespace {

constexpr std::size_t fraction_digits_max = 18;
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
    return b != 0 && a > most / b ? most : a * b;
}

/// @param digits nothing else.
std::uint64_t number_of(std::string_view digits) noexcept {
    std::uint64_t value = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
    return error == std::errc{} ? value : most;
}

/// The digits behind the point, times `factor`.
std::optional<std::uint64_t> fraction_product(std::string_view digits, std::uint64_t factor) noexcept {
    while (digits.ends_with('0')) digits.remove_suffix(1);
    if (digits.empty()) return 0;
    if (digits.size() > fraction_digits_max) return std::nullopt;
    std::uint64_t denominator = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) denominator *= 10;
    const std::uint64_t common = std::gcd(denominator, factor);
    const std::uint64_t numerator = number_of(digits);
    if (numerator % (denominator / common) != 0) return std::nullopt;
    return numerator / (denominator / common) * (factor / common);  // less than factor
}

}  // namespace

bool is_digits(std::string_view text) noexcept {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::uint64_t> whole_product(std::string_view text, std::uint64_t factor) noexcept {
    assert(factor > 0);
    const auto point = text.find('.');
    const auto whole = text.substr(0, point);
    if (!is_digits(whole)) return std::nullopt;
    const std::uint64_t large = product(number_of(whole), factor);
    if (point == std::string_view::npos) return large;
    const auto fraction = text.substr(point + 1);
    const auto small = is_digits(fraction) ? fraction_product(fraction, factor) : std::nullopt;
    if (!small) return std::nullopt;
    return *small > most - large ? most : large + *small;
}

}  // namespace seriesgate
