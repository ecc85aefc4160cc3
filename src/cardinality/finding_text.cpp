#include "cardinality/findings.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/text.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// Fewest names with a pattern; fewer can be read one by one.
constexpr std::size_t names_min = 50;
/// Share of a pattern's names that must have a unique word. In names chosen by people, words repeat.
constexpr double unique_part = 0.95;
/// A longer pattern wins if it matches this share of the names of the most common one.
constexpr double pattern_part = 0.8;
/// Fewest letters of a word that looks generated.
constexpr std::size_t word_min = 4;
constexpr std::size_t words_max = 12;

bool is_hex(char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
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

/// Joins the words, with `*` for `count` words from `first` on.
std::string with_hole(const words& of, std::size_t first, std::size_t count) {
    std::string made;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (i > first && i < first + count) continue;
        if (i != 0) made += '_';
        made += i == first ? std::string_view{"*"} : of[i];
    }
    return made;
}

/// Patterns of names with unique words.
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
    // Prefers the longest pattern among the most common ones: `*` alone matches all.
    std::size_t most = 0;
    for (const std::string& each : made) most = std::max(most, counts[each]);
    const auto rank = [&](const std::string& each) {
        const bool is_common = static_cast<double>(counts[each]) >= pattern_part * static_cast<double>(most);
        return std::tuple{is_common, is_common ? each.size() : 0, counts[each]};
    };
    std::ranges::stable_sort(made, std::ranges::greater{}, rank);
    return made;
}

using namespace std::chrono_literals;

/// Series of one scrape arrive within this time.
constexpr auto burst = 2s;
/// Ignores bursts smaller than the usual size divided by this: they came before the explosion.
constexpr std::size_t small_part = 20;
constexpr std::size_t usual_bursts = 9;

bool is_about(const finding& found, const sampled_series& series) {
    if (series.tenant != found.tenant && found.what != explosion::tenants) return false;
    const std::string_view metric = value_of(series, name_label);
    switch (found.what) {
        case explosion::metric_names:
            return matches_pattern(metric, found.metrics.front());
        case explosion::label:
        case explosion::buckets:
            if (value_of(series, found.label).empty()) return false;
            return found.metrics.empty() || std::ranges::find(found.metrics, metric) != found.metrics.end();
        case explosion::tenants:
        case explosion::targets:
        case explosion::growth:
            break;
    }
    return true;
}

struct arrivals {
    time_point begin{}, end{};
    std::size_t count = 0;
};

/// Groups times into bursts, the earliest first.
std::vector<arrivals> bursts_of(std::vector<time_point> times) {
    std::ranges::sort(times);
    std::vector<arrivals> made;
    for (const time_point each : times) {
        if (made.empty() || each - made.back().end > burst) made.push_back({.begin = each});
        made.back().end = each;
        ++made.back().count;
    }
    return made;
}

template <class T>
T median(std::vector<T> of) {
    const std::size_t middle = (of.size() - 1) / 2;
    std::ranges::nth_element(of, of.begin() + static_cast<std::ptrdiff_t>(middle));
    return of[middle];
}

/// Goes back from the last burst while earlier ones come as often and are not much smaller. Earlier bursts (usually the
/// start of the program or the gate) were no explosion. Two bursts give no interval, so the first may have been
/// healthy.
time_point beginning(const std::vector<arrivals>& bursts) {
    std::vector<std::size_t> counts;
    std::vector<time_point::duration> pauses;
    for (std::size_t i = bursts.size() - std::min(bursts.size(), usual_bursts); i < bursts.size(); ++i) {
        counts.push_back(bursts[i].count);
        if (i != 0) pauses.push_back(bursts[i].begin - bursts[i - 1].begin);
    }
    std::size_t first = bursts.size() - 1;
    if (pauses.size() < 2) return bursts[first].begin;
    const auto pause_max = median(pauses) + median(pauses) / 4;
    const std::size_t count_min = median(counts) / small_part;
    while (first > 0 && bursts[first].begin - bursts[first - 1].begin <= pause_max &&
           bursts[first - 1].count >= count_min)
        --first;
    return bursts[first].begin;
}

/// Fewer series of a thinned sample do not tell few values from many.
constexpr std::size_t counted_min = 20;
/// The samples hold at least one of the day's hours.
constexpr std::uint64_t hours_of_day = 24;

/// The different values of a label among sampled series.
struct values_seen {
    std::set<std::string_view> values{};
    std::size_t series = 0;

    void add(std::string_view value) {
        values.insert(value);
        ++series;
    }
    [[nodiscard]] std::uint64_t estimate(std::uint64_t weight) const {
        if (weight > 1 && series < counted_min) return 0;
        return estimate_values(values.size(), series, series * weight).values;
    }
};

/// Values among the samples that make an explosion: half of what a finding needs, since new and refused series may
/// each have half of them.
std::uint64_t values_least(const finding& found) {
    if (found.what == explosion::buckets) return finding_terms{}.buckets_min / 2;
    const bool has_values = found.what == explosion::label || found.what == explosion::metric_names;
    return has_values ? std::max(finding_terms{}.values_min / 2, found.values.values / hours_of_day) : 0;
}

std::string minute_text(time_point when) {
    return fmt::format("{:%H:%M} UTC", fmt::gmtime(std::chrono::floor<std::chrono::seconds>(when)));
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
            // Skips to the end of the word: many words contain hexadecimal digits.
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

std::string_view value_of(const sampled_series& series, std::string_view label) {
    for (const auto& [name, value] : series.labels)
        if (name == label) return value;
    return {};
}

exploding_series split_samples(const finding& found, const sampled& all) {
    std::vector<time_point> times;
    for (const auto* const from : {&all.known, &all.refused})
        for (const auto& each : *from)
            if (each->first_seen != time_point::min() && is_about(found, *each)) times.push_back(each->first_seen);
    exploding_series made{.since = time_point::max()};
    if (!times.empty()) {
        const auto bursts = bursts_of(std::move(times));
        made.since = beginning(bursts);
        made.is_certain = bursts.size() != 2;
    }
    values_seen known, refused;
    for (const auto& each : all.known) {
        const bool is_exploding = each->first_seen >= made.since && is_about(found, *each);
        (is_exploding ? made.exploding : made.healthy).push_back(each.get());
        if (is_exploding) known.add(value_of(*each, found.label));
    }
    for (const auto& each : all.refused)
        if (each->first_seen >= made.since && is_about(found, *each)) {
            made.exploding.push_back(each.get());
            refused.add(value_of(*each, found.label));
        }
    made.is_remembered =
        std::max(known.estimate(all.weight), refused.estimate(all.refused_weight)) >= values_least(found);
    return made;
}

std::string to_text(const finding& found) {
    const auto values = [&found] { return count_text(found.values.values, found.values.is_exact); };
    const auto series = [&found] { return count_text(found.series, found.is_exact); };
    const auto metric = [&found] {
        if (found.metrics.empty()) return std::string{"many metrics"};
        std::string text = readable(found.metrics.front());
        if (found.metrics.size() > 1) text += fmt::format(" and {} more", found.metrics.size() - 1);
        return text;
    };
    const auto labels = [&found] {
        std::string text = readable(found.label);
        for (std::size_t i = 1; i < found.labels.size(); ++i) text.append(" and ").append(readable(found.labels[i]));
        return text;
    };
    std::string text;
    switch (found.what) {
        case explosion::label:
            text =
                fmt::format("label {} of {} has {} values among {} new series", labels(), metric(), values(), series());
            break;
        case explosion::buckets:
            text = fmt::format("{} has {} buckets, and {} new series", metric(), values(), series());
            break;
        case explosion::metric_names:
            text = fmt::format("{} metrics are called {}, and have {} new series", values(), metric(), series());
            break;
        case explosion::tenants:
            text = fmt::format("{} tenants have {} new series", values(), series());
            break;
        case explosion::targets:
            text = fmt::format("{} new targets (label {}) have {} new series", values(), labels(), series());
            break;
        case explosion::growth:
            text = fmt::format("{} of {} new series are refused, and no label has exploded",
                               count_text(found.refused, found.is_exact), series());
            if (!found.metrics.empty()) text += fmt::format("; most are of {}", metric());
    }
    if (!found.tenant.empty()) text += fmt::format(" of tenant {}", readable(found.tenant));
    if (!found.job.empty()) text += fmt::format(" of job {}", readable(found.job));
    if (!found.sender.empty()) text += fmt::format(", from {}", readable(found.sender));
    if (!found.agent.empty()) text += fmt::format(" ({})", readable(found.agent));
    text += ", since " + minute_text(found.since);
    return found.over_since ? text + ", over since " + minute_text(*found.over_since) : text;
}

}  // namespace seriesgate
