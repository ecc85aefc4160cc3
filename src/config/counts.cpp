#include "config/counts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include "config/decimals.hpp"
#include "config/wording.hpp"

namespace seriesgate {
namespace {

constexpr std::uint64_t thousand = 1'000;
constexpr std::uint64_t million = 1'000'000;
constexpr std::uint64_t billion = 1'000'000'000;
constexpr unsigned exponent_max = 19;  // of a power of ten in 64 bits

struct magnitude {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::array<magnitude, 4> magnitudes{{{"k", thousand}, {"K", thousand}, {"M", million}, {"G", billion}}};

/// What else people write behind a number, in lower case. Only named, not taken: it has other meanings, too.
constexpr std::array<magnitude, 17> foreign_magnitudes{{{"", 1},
                                                        {"series", 1},
                                                        {"k", thousand},
                                                        {"ki", thousand},
                                                        {"kb", thousand},
                                                        {"thousand", thousand},
                                                        {"m", million},
                                                        {"mi", million},
                                                        {"mb", million},
                                                        {"mio", million},
                                                        {"million", million},
                                                        {"millions", million},
                                                        {"g", billion},
                                                        {"gi", billion},
                                                        {"b", billion},
                                                        {"bn", billion},
                                                        {"billion", billion}}};

/// A number without its groups: `1_000_000` is 1000000. Nothing if they are not of three digits.
std::optional<std::string> without_groups(std::string_view text, char separator) {
    auto end = text.find(separator);
    std::string joined{text.substr(0, end)};
    if (end == std::string_view::npos) return joined;
    if (!is_digits(joined) || joined.size() > 3) return std::nullopt;
    while (end != std::string_view::npos) {
        text.remove_prefix(end + 1);
        end = text.find(separator);
        const auto group = text.substr(0, end);
        if (group.size() != 3 || !is_digits(group)) return std::nullopt;
        joined += group;
    }
    return joined;
}

std::optional<std::uint64_t> power_of_ten(std::string_view exponent) noexcept {
    unsigned count = 0;
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), count);
    if (error != std::errc{} || end != exponent.data() + exponent.size()) return std::nullopt;
    if (count > exponent_max) return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t power = 1;
    while (count-- > 0) power *= 10;
    return power;
}

/// Takes what multiplies the number, `M` or `e6`, from its end. @return 1 if there is nothing of the kind, nothing if
/// it is none that is known.
std::optional<std::uint64_t> take_factor(std::string_view& text) noexcept {
    for (const magnitude& each : magnitudes) {
        if (!text.ends_with(each.name)) continue;
        text.remove_suffix(each.name.size());
        return each.factor;
    }
    const auto at = text.find_first_of("eE");
    if (at == std::string_view::npos) return 1;
    const auto exponent = text.substr(at + 1);
    text = text.substr(0, at);
    return power_of_ten(exponent);
}

/// Whether nothing but the factor can be wrong with a number: no zero in front, and a fraction only of something large.
bool is_plain(std::string_view number, std::uint64_t factor) noexcept {
    const auto point = number.find('.');
    const auto whole = number.substr(0, point);
    if (!is_digits(whole) || (whole.size() > 1 && whole.starts_with('0'))) return false;
    return point == std::string_view::npos || (factor > 1 && is_digits(number.substr(point + 1)));
}

/// `1 million`, `1Mi`, `+5`, `010`, `5.0`
std::optional<std::uint64_t> parse_foreign(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
    auto name = text.substr(end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    const auto* const meant = std::ranges::find(foreign_magnitudes, in_lower_case(name), &magnitude::name);
    const auto point = text.find('.');
    const bool has_groups = point < end && point + 4 == end;  // 1.000 is one for some, a thousand for others
    if (meant == foreign_magnitudes.end() || (meant->factor == 1 && has_groups)) return std::nullopt;
    return whole_product(text.substr(0, end), meant->factor);
}

}  // namespace

std::optional<std::uint64_t> parse_count(std::string_view text) {
    const auto factor = take_factor(text);
    const auto number = without_groups(text, '_');
    if (!factor || !number || !is_plain(*number, *factor)) return std::nullopt;
    return whole_product(*number, *factor);
}

std::string count_meant(std::string_view text) {
    auto meant = parse_foreign(text);
    for (const char separator : {',', '.', ' ', '\''}) {
        if (meant || (separator == '.' && std::ranges::count(text, '.') < 2)) continue;
        if (const auto joined = without_groups(text, separator)) meant = parse_foreign(*joined);
    }
    return meant ? std::to_string(*meant) : "";
}

}  // namespace seriesgate
