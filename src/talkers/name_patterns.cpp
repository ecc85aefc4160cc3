#include "talkers/name_patterns.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <unordered_map>

namespace seriesgate {
namespace {

/// Names that have a pattern, at least: fewer are looked at one by one.
constexpr std::size_t names_min = 50;
/// Of names with a pattern of words, so many have a word that is in no other name. In names that people have chosen
/// words come again.
constexpr double unique_part = 0.95;
/// Of the names that the most common pattern has, as many as one has that says more of them.
constexpr double pattern_part = 0.8;
/// A word of so many letters may be one that nobody has chosen.
constexpr std::size_t word_min = 4;
constexpr std::size_t words_max = 12;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

using words = std::vector<std::string_view>;

words words_of(std::string_view name) {
    words made;
    while (made.size() + 1 < words_max) {
        const std::size_t end = name.find('_');
        made.push_back(name.substr(0, end));
        if (end == std::string_view::npos) return made;
        name.remove_prefix(end + 1);
    }
    made.push_back(name);
    return made;
}

/// The words with `*` in place of those from `first` on, so many.
std::string with_hole(const words& of, std::size_t first, std::size_t count) {
    std::string made;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (i > first && i < first + count) continue;
        if (i != 0) made += '_';
        made += i == first ? std::string_view{"*"} : of[i];
    }
    return made;
}

/// Names with words that are theirs alone.
std::vector<std::string> patterns_of_words(const std::vector<std::string_view>& names) {
    std::unordered_map<std::string_view, std::size_t> uses;
    for (const std::string_view name : names)
        for (const std::string_view word : words_of(name)) ++uses[word];
    const auto is_own = [&uses](std::string_view word) { return word.size() >= word_min && uses[word] == 1; };
    std::map<std::string, std::size_t> counts, own;
    for (const std::string_view name : names) {
        const words of = words_of(name);
        const bool has_own = std::ranges::any_of(of, is_own);
        const auto count = [&](std::size_t first, std::size_t holes) {
            const std::string pattern = with_hole(of, first, holes);
            ++counts[pattern];
            own[pattern] += has_own ? 1 : 0;
        };
        for (std::size_t i = 0; i < of.size(); ++i) count(i, 1);
        for (std::size_t i = 0; i + 1 < of.size(); ++i) count(i, of.size() - i);
    }
    std::vector<std::string> made;
    for (const auto& [pattern, count] : counts)
        if (count >= names_min && static_cast<double>(own[pattern]) >= unique_part * static_cast<double>(count))
            made.push_back(pattern);
    // What says the most of nearly as many names as any pattern has: `*` alone is all of them.
    std::size_t most = 0;
    for (const std::string& each : made) most = std::max(most, counts[each]);
    const auto rank = [&](const std::string& each) {
        const bool is_common = static_cast<double>(counts[each]) >= pattern_part * static_cast<double>(most);
        return std::tuple{is_common, is_common ? each.size() : 0, counts[each]};
    };
    std::ranges::stable_sort(made, std::ranges::greater{}, rank);
    return made;
}

}  // namespace

std::string name_pattern(std::string_view metric) {
    std::string made;
    for (std::size_t at = 0; at < metric.size();) {
        std::size_t end = at, digits = 0;
        while (end < metric.size() && is_hex(metric[end])) digits += is_digit(metric[end++]) ? 1 : 0;
        const bool stands_alone = end == metric.size() || !is_letter(metric[end]);
        if (digits != 0 && end - at >= 4 && stands_alone) {  // a hash, or a part of a UUID
            at = end;
        } else if (is_digit(metric[at])) {
            while (at < metric.size() && is_digit(metric[at])) ++at;
        } else {
            // To the end of a word: there are hexadecimal digits in many.
            do made += metric[at++];
            while (at < metric.size() && is_letter(metric[at - 1]) && is_letter(metric[at]));
            continue;
        }
        if (!made.ends_with('#')) made += '#';
    }
    return made;
}

bool matches_pattern(std::string_view metric, std::string_view pattern) {
    const std::size_t hole = pattern.find('*');
    if (hole == std::string_view::npos) return name_pattern(metric) == pattern;
    const std::string_view head = pattern.substr(0, hole), tail = pattern.substr(hole + 1);
    return metric.size() > head.size() + tail.size() && metric.starts_with(head) && metric.ends_with(tail);
}

std::vector<std::string> patterns_of(const std::vector<std::string_view>& names) {
    std::map<std::string, std::size_t> counts;
    for (const std::string_view name : names) ++counts[name_pattern(name)];
    std::vector<std::string> made;
    for (const auto& [pattern, count] : counts)
        if (count >= names_min && pattern.find('#') != std::string::npos) made.push_back(pattern);
    std::vector<std::string_view> others;
    for (const std::string_view name : names)
        if (pattern_of(name, made) == nullptr) others.push_back(name);
    for (std::string& each : patterns_of_words(others)) made.push_back(std::move(each));
    return made;
}

const std::string* pattern_of(std::string_view metric, const std::vector<std::string>& patterns) {
    const std::string own = name_pattern(metric);
    const auto has = [&](const std::string& pattern) {
        return pattern == own || (pattern.find('*') != std::string::npos && matches_pattern(metric, pattern));
    };
    const auto found = std::ranges::find_if(patterns, has);
    return found == patterns.end() ? nullptr : &*found;
}

}  // namespace seriesgate
