#include "talkers/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace seriesgate {
namespace {

constexpr std::size_t varying_min = 4;

struct alphabet {
    std::string_view name;  ///< within brackets
    char first, last;
};
constexpr std::array alphabets{alphabet{"0-9", '0', '9'}, alphabet{"a-f", 'a', 'f'}, alphabet{"g-z", 'g', 'z'},
                               alphabet{"A-F", 'A', 'F'}, alphabet{"G-Z", 'G', 'Z'}, alphabet{"_", '_', '_'},
                               alphabet{".", '.', '.'},   alphabet{":", ':', ':'},   alphabet{"/", '/', '/'},
                               alphabet{"-", '-', '-'}};

/// @return alphabets.size() if there is none.
std::size_t alphabet_of(char c) {
    const auto found = std::ranges::find_if(alphabets, [c](const alphabet& a) { return a.first <= c && c <= a.last; });
    return static_cast<std::size_t>(found - alphabets.begin());
}

/// Those that the texts are written with; none if they have other characters. The last one is that of the others.
std::optional<std::array<bool, alphabets.size() + 1>> alphabets_of(const std::vector<std::string_view>& texts) {
    std::array<bool, alphabets.size() + 1> has{};
    for (const std::string_view each : texts)
        for (const char c : each) has[alphabet_of(c)] = true;
    if (has.back()) return std::nullopt;
    return has;
}

/// How many characters all of them have in common, from the front.
std::size_t common(const std::vector<std::string_view>& texts, bool from_behind) {
    const std::string_view first = texts.front();
    std::size_t size = first.size();
    for (const std::string_view each : texts) {
        size = std::min(size, each.size());
        for (std::size_t at = 0; at < size; ++at) {
            const bool is_same =
                from_behind ? each[each.size() - 1 - at] == first[first.size() - 1 - at] : each[at] == first[at];
            if (!is_same) size = at;
        }
    }
    return size;
}

}  // namespace

std::string escaped_for_regex(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view{R"(\.+*?()|[]{}^$)"}.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string characters_of(const std::vector<std::string_view>& texts) {
    const auto has = alphabets_of(texts);
    if (!has) return {};
    const auto [least, most] = std::ranges::minmax(texts, {}, &std::string_view::size);
    std::string out = "[";
    for (std::size_t i = 0; i < alphabets.size(); ++i)
        if ((*has)[i]) out += alphabets[i].name;
    return out + (least.size() == most.size() ? fmt::format("]{{{}}}", least.size())
                                              : fmt::format("]{{{},{}}}", least.size(), most.size()));
}

/// A counter has the same first digits for a while: what varies begins with the first character that may vary.
std::string spelling_of(const std::vector<std::string_view>& texts) {
    const std::size_t shortest = std::ranges::min(texts, {}, &std::string_view::size).size();
    std::size_t head = common(texts, false);
    std::size_t tail = std::min(common(texts, true), shortest - head);
    std::vector<std::string_view> middles;
    const auto take_middles = [&] {
        middles.clear();
        for (const std::string_view each : texts) middles.push_back(each.substr(head, each.size() - head - tail));
    };
    take_middles();
    const auto has = alphabets_of(middles);
    if (!has) return {};
    const std::string_view first = texts.front();
    const auto may_vary = [&](char c) { return (*has)[alphabet_of(c)]; };
    while (head > 0 && may_vary(first[head - 1])) --head;
    while (tail > 0 && may_vary(first[first.size() - tail])) --tail;
    take_middles();
    if (std::ranges::min(middles, {}, &std::string_view::size).size() < varying_min) return {};
    return escaped_for_regex(first.substr(0, head)) + characters_of(middles) +
           escaped_for_regex(first.substr(first.size() - tail));
}

}  // namespace seriesgate
