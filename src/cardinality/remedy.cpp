#include "cardinality/remedy.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <span>

#include "core/text.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"
#include "series/selector.hpp"

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

std::size_t alphabet_of(char c) {
    const auto found = std::ranges::find_if(alphabets, [c](const alphabet& a) { return a.first <= c && c <= a.last; });
    return static_cast<std::size_t>(found - alphabets.begin());
}

/// The alphabets used by the texts; nothing if other characters occur. The last entry stands for those.
std::optional<std::array<bool, alphabets.size() + 1>> alphabets_of(const std::vector<std::string_view>& texts) {
    std::array<bool, alphabets.size() + 1> has{};
    for (const std::string_view each : texts)
        for (const char c : each) has[alphabet_of(c)] = true;
    if (has.back()) return std::nullopt;
    return has;
}

/// Length of the common prefix or suffix.
std::size_t common(const std::vector<std::string_view>& texts, bool from_behind) {
    const std::string_view first = texts.front();
    std::size_t size = first.size();
    for (const std::string_view each : texts) {
        const auto same =
            from_behind
                ? std::ranges::mismatch(first.rbegin(), first.rend(), each.rbegin(), each.rend()).in1 - first.rbegin()
                : std::ranges::mismatch(first, each).in1 - first.begin();
        size = std::min(size, static_cast<std::size_t>(same));
    }
    return size;
}

/// Enough for metrics without an excessive label.
constexpr std::uint64_t limit_min = 1'000;
constexpr std::size_t limit_name_max = 60;
constexpr std::size_t described_bytes_max = 200;
/// More would make a rule that nobody reads.
constexpr std::size_t jobs_max = 10, metrics_max = 60;
/// Share of the exploding series that a job or metric must have to be named; others may use the label rightly.
constexpr double named_part = 0.005;
/// Share of the exploding series that a rule must match.
constexpr double stopped_part = 0.99;
/// A rule is tried on a part of the healthy series; with fewer that would say nothing.
constexpr std::size_t tried_min = 30;
/// With 95 % certainty a rule that takes none of n series tried takes less than 3/n of all.
constexpr double untaken = 3;
/// Without these labels, healthy series would become equal.
constexpr std::array<std::string_view, 5> never_dropped{"le", "quantile", "job", "instance", "__name__"};

/// Whether the text is what it looks like: people paste it.
bool is_plain(std::string_view text) {
    if (text.empty()) return false;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0 || !is_seen(text.substr(0, size))) return false;
        text.remove_prefix(size);
    }
    return true;
}

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    return out + "'";
}

/// Escapes a text for RE2, so that it matches itself.
std::string escaped_for_regex(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view{R"(\.+*?()|[]{}^$)"}.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

/// Labels of a series with a regular expression for each value.
class rule {
    struct condition {
        std::string label{}, regex{};
    };
    std::vector<condition> all_{};

  public:
    void require(std::string_view label, std::string regex) { all_.push_back({std::string{label}, std::move(regex)}); }
    /// Both forms match the same series.
    [[nodiscard]] std::string to_selector() const {
        std::string out = "{";
        for (const condition& each : all_) {
            if (out.size() > 1) out += ',';
            out += is_identifier(each.label) ? each.label : in_double_quotes(each.label);
            out.append("=~").append(in_double_quotes(each.regex));
        }
        return out + "}";
    }
    [[nodiscard]] std::string to_relabel() const {
        std::string labels, regex;
        for (const condition& each : all_) {
            labels += (labels.empty() ? "" : ", ") + in_quotes(each.label);
            regex += regex.empty() ? "" : ";";
            const bool is_choice = all_.size() > 1 && each.regex.find('|') != std::string::npos;
            regex += is_choice ? fmt::format("(?:{})", each.regex) : each.regex;
        }
        return fmt::format("- source_labels: [{}]\n  regex: {}\n  action: drop\n", labels, in_quotes(regex));
    }
};

/// Frequent values of a label among exploding series, as a regular expression. Nothing if there are too many or some
/// cannot be pasted; empty if some exploding series lack the label.
std::optional<std::string> choice_of(const std::vector<const sampled_series*>& exploding, std::string_view label,
                                     std::size_t most) {
    std::map<std::string_view, std::size_t> counts;
    for (const sampled_series* const each : exploding) ++counts[value_of(*each, label)];
    const auto least = static_cast<std::size_t>(std::ceil(named_part * static_cast<double>(exploding.size())));
    std::string out;
    std::size_t named = 0;
    for (const auto& [value, count] : counts) {
        if (count < least) continue;
        if (value.empty()) return std::string{};
        if (!is_plain(value) || ++named > most) return std::nullopt;
        out += (out.empty() ? "" : "|") + escaped_for_regex(value);
    }
    return out;
}

/// A regular expression for names of a pattern, from the parts seen.
std::string regex_of_pattern(std::string_view pattern, const std::vector<const sampled_series*>& exploding) {
    std::vector<std::string> literals{""};
    for (const char c : pattern) c == '#' || c == '*' ? void(literals.emplace_back()) : void(literals.back() += c);
    std::string capturing = escaped_for_regex(literals.front());
    for (std::size_t i = 1; i < literals.size(); ++i)
        capturing += std::string{"(.+)"}.append(escaped_for_regex(literals[i]));
    const RE2 parts{capturing, RE2::Quiet};  // it would write senders' bytes to stderr
    if (!parts.ok()) return {};              // no UTF-8
    std::vector<std::vector<std::string>> seen(literals.size() - 1);
    std::vector<std::string> captured(seen.size());
    std::vector<RE2::Arg> into;
    std::vector<const RE2::Arg*> arguments;
    for (std::string& each : captured) into.emplace_back(&each);
    for (const RE2::Arg& each : into) arguments.push_back(&each);
    for (const sampled_series* const each : exploding) {
        const std::string_view name = value_of(*each, name_label);
        if (!RE2::FullMatchN({name.data(), name.size()}, parts, arguments.data(), static_cast<int>(arguments.size())))
            continue;
        for (std::size_t i = 0; i < seen.size(); ++i) seen[i].push_back(captured[i]);
    }
    std::string out = escaped_for_regex(literals.front());
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (seen[i].empty()) return {};
        const std::string characters = characters_of({seen[i].begin(), seen[i].end()});
        if (characters.empty()) return {};
        out += characters + escaped_for_regex(literals[i + 1]);
    }
    return out;
}

/// The series that the rule would match.
std::vector<const sampled_series*> taken_by(const selector& rule, const std::vector<const sampled_series*>& of) {
    std::vector<const sampled_series*> made;
    std::ranges::copy_if(of, std::back_inserter(made),
                         [&](const sampled_series* each) { return rule.matches(label_views(each->labels)); });
    return made;
}

/// Tries rules on the sampled series: the widest first if all are sampled, else the narrowest first.
class trial {
    const finding& found_;
    const sampled& all_;
    exploding_series sorted_;
    remedy made_{};
    const label_limit* same_ = nullptr;  ///< a limit in force that selects what a new one would

  public:
    trial(const finding& found, const sampled& all) : found_(found), all_(all), sorted_(split_samples(found, all)) {}

    remedy take() {
        decide();
        if (same_ != nullptr)
            made_.note += fmt::format("; limit {} selects the same series already", same_->name);
        else if (!made_.limit.empty() && !found_.tenant.empty())
            made_.note += "; paste the limit once: it is for every tenant";
        return std::move(made_);
    }

  private:
    void decide() {
        made_.remembered = sorted_.healthy.size();
        made_.known = known_series();
        switch (found_.what) {
            case explosion::tenants:
                made_.note = "no rule of a sender says whose a request is: see who may name tenants";
                return;
            case explosion::targets:
                made_.note = "new targets are no explosion of a label: see why they come, or raise the limit";
                return;
            case explosion::growth:
                made_.note = "no label explodes: raise the limit, or send less";
                return;
            case explosion::label:
            case explosion::buckets:
            case explosion::metric_names:
                break;
        }
        if (sorted_.exploding.size() < 2 || !sorted_.is_remembered) {
            made_.note = "too little of it is remembered, so no rule could be tried";
            return;
        }
        const bool drops_label = std::ranges::find(never_dropped, found_.label) == never_dropped.end();
        const std::optional<rule> scope = scope_of();
        if (!scope || (drops_label && !is_plain(found_.label))) {
            made_.note = "its names cannot be pasted: they have characters that nobody sees, or there are too many";
            return;
        }
        const rule widest = with_label(*scope, any_value());
        std::vector<rule> rules{drops_label ? widest : *scope};
        if (const std::string values = drops_label ? spelling_of_values() : ""; !values.empty())
            rules.push_back(with_label(*scope, values));
        if (!tries_all()) std::ranges::reverse(rules);
        const bool says_little = has_unseen() && made_.remembered < tried_min;
        if (!says_little && !is_ignored(found_.label))
            offer_limit(found_.what == explosion::metric_names ? *scope : widest);
        if (!drops_label && found_.what == explosion::label) {
            made_.note =
                fmt::format("no rule: series that differ in {} alone would become one; see where its values come from",
                            readable(found_.label));
            return;
        }
        if (says_little) {
            made_.note = fmt::format(
                "only {} of about {} series that are no part of it are known with their labels, so no "
                "rule can be tried",
                grouped(made_.remembered), grouped(made_.known));
            return;
        }
        made_.note = "no rule takes nearly all of it: see which program sends it";
        for (const rule& each : rules)
            if (offer(each)) break;
    }

    [[nodiscard]] rule with_label(rule of, std::string values) const {
        of.require(found_.label, std::move(values));
        return of;
    }

    /// Selects the exploding metrics and jobs. Nothing if they cannot be expressed.
    [[nodiscard]] std::optional<rule> scope_of() const {
        rule made;
        if (found_.what == explosion::metric_names) {
            std::string names = regex_of_pattern(found_.metrics.front(), sorted_.exploding);
            if (!is_plain(names)) return std::nullopt;
            made.require(name_label, std::move(names));
        } else if (const auto metrics = choice_of(sorted_.exploding, name_label, metrics_max)) {
            if (!metrics->empty()) made.require(name_label, *metrics);
        } else if (found_.what == explosion::buckets) {
            return std::nullopt;  // the label alone would match all histograms
        }
        // No job is required if series have none, or too many.
        if (found_.label != "job" && !is_ignored("job"))
            if (const auto jobs = choice_of(sorted_.exploding, "job", jobs_max); jobs && !jobs->empty())
                made.require("job", *jobs);
        return made;
    }

    [[nodiscard]] bool is_ignored(std::string_view label) const {
        return std::ranges::find(all_.ignored_labels, label) != all_.ignored_labels.end();
    }
    [[nodiscard]] std::uint64_t sampled_series_count() const { return sorted_.healthy.size() * all_.weight; }
    /// Series that are no part of it, about. A warm start or a fleet may have brought most of them, without labels.
    [[nodiscard]] std::uint64_t known_series() const {
        const std::uint64_t sampled = sampled_series_count();
        const std::uint64_t exploding = (all_.known.size() - sorted_.healthy.size()) * all_.weight;
        const std::uint64_t admitted = all_.admitted - std::min(all_.admitted, exploding);
        // Four standard errors of the sampling, if there is any.
        const double sampling =
            all_.weight == 1 ? 0 : 4 * static_cast<double>(all_.weight) * std::sqrt(all_.known.size());
        return admitted > sampled + sampled / 4 + limit_min + static_cast<std::uint64_t>(sampling) ? admitted : sampled;
    }
    [[nodiscard]] bool has_unseen() const { return made_.known > sampled_series_count(); }
    [[nodiscard]] bool tries_all() const { return all_.weight == 1 && !has_unseen(); }
    /// Series that one of those tried stands for.
    [[nodiscard]] double weight() const {
        return made_.remembered == 0 ? static_cast<double>(all_.weight)
                                     : static_cast<double>(made_.known) / static_cast<double>(made_.remembered);
    }

    [[nodiscard]] std::vector<std::string_view> values() const {
        std::vector<std::string_view> made;
        for (const sampled_series* const each : sorted_.exploding) made.push_back(value_of(*each, found_.label));
        return made;
    }
    /// Before Prometheus 3.0 a dot is no line end.
    [[nodiscard]] std::string any_value() const {
        const auto has_lines = [](std::string_view value) { return value.find('\n') != std::string_view::npos; };
        return std::ranges::any_of(values(), has_lines) ? "(?s:.+)" : ".+";
    }
    /// The form of the values since the explosion began; empty if some are known in part only.
    [[nodiscard]] std::string spelling_of_values() const {
        const auto all = values();
        const auto may_be_cut = [](std::string_view value) {
            return value.size() > whole_value_max || value.find("...") != std::string_view::npos;
        };
        if (std::ranges::any_of(all, may_be_cut)) return {};
        std::string spelled = spelling_of(all);
        return is_plain(spelled) ? spelled : std::string{};
    }

    /// @return whether no better rule is possible.
    bool offer(const rule& one) {
        const auto parsed = parse_selector(one.to_selector());
        if (!parsed) return false;
        const auto taken = taken_by(*parsed, sorted_.healthy);
        const auto stopped = taken_by(*parsed, sorted_.exploding).size();
        const bool stops = static_cast<double>(stopped) >= stopped_part * static_cast<double>(sorted_.exploding.size());
        if (!stops) return false;
        if (!taken.empty()) {
            if (made_.would_take != 0 && made_.would_take <= taken.size()) return false;  // a better one was tried
            made_.would_take = taken.size();
            made_.note = fmt::format(
                "no rule takes the explosion alone: this one would take {} of {} series that were known before, such "
                "as {}: decide which of them are wanted",
                grouped(taken.size()), grouped(made_.remembered),
                to_text(label_views(taken.front()->labels), described_bytes_max));
            return false;
        }
        made_.would_take = 0;
        made_.relabel = one.to_relabel();
        if (made_.remembered == 0 && !tries_all()) {
            made_.note = fmt::format("tried on none of the others, of which it takes hardly more than {}",
                                     grouped(static_cast<std::uint64_t>(untaken * weight())));
            return true;
        }
        made_.note = fmt::format("tried on {} of {} series that are no part of it: takes none",
                                 grouped(made_.remembered), count_text(made_.known, tries_all()));
        if (!tries_all())
            made_.note += fmt::format(" of these, and hardly more than {} of the others",
                                      grouped(static_cast<std::uint64_t>(untaken * weight())));
        if (!is_identifier(found_.label) && found_.what == explosion::label)
            made_.note += "; Prometheus before 3.0 cannot name this label, vmagent and later ones can";
        return true;
    }

    /// Suggests twice the former number of series, of the tenant with the most.
    void offer_limit(const rule& one) {
        const auto parsed = parse_selector(one.to_selector());
        if (!parsed || one.to_selector().size() > selector_bytes_max) return;  // longer than the gate accepts
        const auto in_force = limits();
        const auto same = std::ranges::find(in_force, std::optional{*parsed}, &label_limit::match);
        if (same != in_force.end()) {
            same_ = &*same;
            return;
        }
        std::map<std::string_view, std::uint64_t> demand;
        for (const sampled_series* const each : taken_by(*parsed, sorted_.healthy))
            ++demand[found_.tenant.empty() ? std::string_view{} : each->tenant];
        std::uint64_t most = 0;
        for (const auto& [tenant, count] : demand) most = std::max(most, count);
        // n series sampled with probability 1/w stand for n w, with a standard error of about sqrt(n) w.
        const double before = weight() * (static_cast<double>(most) + (tries_all() ? 0 : 4 * (std::sqrt(most) + 1)));
        const auto maximum = std::max(limit_min, 2 * static_cast<std::uint64_t>(std::ceil(before)));
        made_.limit = fmt::format("- name: {}\n  match: {}\n  maxHourlySeries: {}\n", in_quotes(limit_name()),
                                  in_quotes(one.to_selector()), maximum);
        if (!found_.tenant.empty()) made_.limit += "  perTenant: true\n";
    }

    [[nodiscard]] std::string limit_name() const {
        const std::string_view from = found_.metrics.empty() ? found_.label : found_.metrics.front();
        std::string out;
        for (const char c : from.substr(0, limit_name_max)) out += is_identifier_character(c) ? c : '-';
        if (std::ranges::find(own_limit_names, out) != own_limit_names.end()) out = "per-" + out;
        const auto in_force = limits();
        const auto is_taken = [&](const std::string& name) {
            return std::ranges::find(in_force, name, &label_limit::name) != in_force.end();
        };
        std::string made = out;
        for (int number = 2; is_taken(made); ++number) made = fmt::format("{}-{}", out, number);
        return made;
    }
    [[nodiscard]] std::span<const label_limit> limits() const {
        return all_.rules ? std::span<const label_limit>{all_.rules->limits} : std::span<const label_limit>{};
    }
};

}  // namespace

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

/// Counters share leading digits for a while, so the varying part begins at the first character of an alphabet.
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

remedy remedy_of(const finding& found, const sampled& all) {
    return trial{found, all}.take();
}

}  // namespace seriesgate
