#include "config/config_error.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/secret_text.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t name_shown_max = 80;

bool is_at_or_below(std::string_view key, std::string_view upper) noexcept {
    return key.starts_with(upper) &&
           (key.size() == upper.size() || key[upper.size()] == '.' || key[upper.size()] == '[');
}

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

std::string config_error::text() const {
    std::string line = where;
    for (const std::string& part : {is == severity::warning ? "warning" : std::string{}, key, message}) {
        if (!line.empty() && !part.empty()) line += ": ";
        line += part;
    }
    return line;
}

std::string key_below(const std::string& key, std::string_view name) {
    const std::string shown = name.empty() ? "''" : printable(name, name_shown_max);
    return key.empty() ? shown : key + "." + shown;
}

std::string key_of_item(const std::string& key, std::size_t index) {
    return key + "[" + std::to_string(index) + "]";
}

std::string flag_of(std::string_view key) {
    return key == "warmStart.url" ? "--warm-from" : "--" + std::string{key};
}

void config_report::push(std::size_t line, config_error error) {
    assert(!error.message.empty());
    entries& to = error.is == severity::error ? errors_ : warnings_;
    if (to.kept.size() == shown_max)
        ++to.left_out;
    else
        to.kept.push_back({line, std::move(error)});
}

void config_report::add(std::size_t line, std::string key, std::string message, severity is) {
    push(line, {line == 0 ? file_ : file_ + ":" + std::to_string(line), std::move(key), std::move(message), is});
}

void config_report::add_flag(const std::string& flag, std::string message, severity is) {
    push(0, {flag, "", std::move(message), is});
}

void config_report::add_at(const std::vector<std::string>& keys, const std::string& message, severity is) {
    for (const std::string& key : keys) {
        const auto found = origins_.find(key);
        if (found == origins_.end()) continue;
        if (found->second.is_flag) return add_flag(flag_of(key), message, is);
        return add(found->second.line, key, message, is);
    }
}

void config_report::set_by_line(const std::string& key, std::size_t line, bool has_variables) {
    origins_[key] = {static_cast<std::uint32_t>(line), false, has_variables};
}

void config_report::set_by_flag(const std::string& key) {
    origins_[key] = {0, true, false};
}

bool config_report::has_variables(std::string_view key) const {
    const auto found = origins_.find(std::string{key});
    return found != origins_.end() && found->second.has_variables;
}

std::size_t config_report::line_of(std::string_view key) const {
    const auto found = origins_.find(std::string{key});
    return found == origins_.end() ? 0 : found->second.line;
}

bool config_report::has_errors(std::string_view key) const {
    return std::ranges::any_of(errors_.kept, [&](const entry& each) {
        const std::string& other = each.error.key;
        return is_at_or_below(other, key) || (!other.empty() && is_at_or_below(key, other)) ||
               each.error.where == flag_of(key);
    });
}

void config_report::sort_by_line() {
    std::ranges::stable_sort(errors_.kept, {}, &entry::line);
    std::ranges::stable_sort(warnings_.kept, {}, &entry::line);
}

std::vector<config_error> config_report::take(entries& from, std::string_view noun) const {
    std::vector<config_error> taken;
    for (entry& each : from.kept) taken.push_back(std::move(each.error));
    if (from.left_out != 0)
        taken.push_back({file_, "", counted(from.left_out, noun) + ", not shown", taken.front().is});
    from = {};
    return taken;
}

std::string printable(std::string_view text, std::size_t shown_max) {
    const std::string whole = without_secrets(text);
    const std::string shown = one_line(std::string_view{whole}.substr(0, shown_max));
    return whole.size() > shown_max ? shown + "..." : shown;
}

std::string in_quotes(std::string_view text) {
    return std::string{"'"}.append(printable(text, quoted_max)).append("'");
}

std::string in_lower_case(std::string_view text) {
    std::string made{text};
    std::ranges::transform(made, made.begin(), lower);
    return made;
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
