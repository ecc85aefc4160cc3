#include "config/wording.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <numeric>
#include <vector>

#include "core/secret_text.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t quoted_max = 80;

std::string_view last_part(std::string_view dotted) noexcept {
    return dotted.substr(dotted.rfind('.') + 1);
}

// Levenshtein: insertions, deletions and replacements from one text to the other. At least `enough` if the lengths
// alone say so: a broken file has thousands of unknown keys.
std::size_t distance(std::string_view from, std::string_view to, std::size_t enough) {
    if (std::max(from.size(), to.size()) - std::min(from.size(), to.size()) >= enough) return enough;
    std::vector<std::size_t> row(to.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string printable(std::string_view text, std::size_t shown_max) {
    const std::string whole = without_secrets(text);
    std::string result;
    for (std::string_view rest = std::string_view{whole}.substr(0, shown_max); !rest.empty();) {
        const std::string_view character = rest.substr(0, std::max<std::size_t>(utf8_size(rest), 1));
        result += is_control_character(character) ? "?" : character;
        rest.remove_prefix(character.size());
    }
    if (whole.size() > shown_max) result += "...";
    return result;
}

std::string in_quotes(std::string_view text) {
    return std::string{"'"}.append(printable(text, quoted_max)).append("'");
}

std::string in_lower_case(std::string_view text) {
    std::string lower{text};
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

std::string folded(std::string_view text) {
    std::string result = in_lower_case(text);
    std::erase_if(result, [](char c) { return c == '-' || c == '_'; });
    return result;
}

std::string_view closest(std::string_view word, std::span<const std::string_view> candidates) {
    if (word.size() > quoted_max) return {};
    assert(std::ranges::count(candidates, std::string_view{}) == 0);
    const std::string whole = folded(word);
    const std::string last = folded(last_part(word));
    std::string_view best;
    std::size_t best_distance = whole.size() / 3 + 2;  // exclusive: a third of the letters and one more may differ
    for (const std::string_view candidate : candidates) {
        const std::size_t by_whole = distance(whole, folded(candidate), best_distance);
        const std::size_t by_last = distance(last, folded(last_part(candidate)), best_distance) + 1;
        const std::size_t nearest = std::min(by_whole, by_last);
        if (nearest < best_distance) {
            best = candidate;
            best_distance = nearest;
        }
    }
    return best;
}

}  // namespace seriesgate
