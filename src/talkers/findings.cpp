#include "talkers/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "talkers/subjects.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t findings_max = 10;
constexpr std::size_t metrics_named_max = 10;
/// Metrics that all targets have, at least: what has fewer is no target.
constexpr std::size_t metrics_of_target = 5;
/// Containers, volumes, network devices of a target, at most: values of a label that name a part of it.
constexpr std::uint64_t parts_of_target = 8;
/// Of a label that has exploded in all metrics, each value has at most so many series on average.
constexpr std::uint64_t common_part = 10;

class search {
    const finding_terms& terms_;
    const talker_tables& taken_;
    const talker_tables& refused_;
    std::vector<subject> subjects_;
    std::vector<finding> found_{};

  public:
    search(const talker_tables& taken, const talker_tables& refused, const finding_terms& terms)
        : terms_(terms), taken_(taken), refused_(refused), subjects_(metrics_of(taken, refused)) {}

    std::vector<finding> take() {
        for (const subject& each : subjects_) {
            if (each.series < terms_.series_min) continue;
            if (const watched_label* const label = culprit(each))
                add(each, *label, explosion::label);
            else if (const watched_label* const buckets = many_buckets(each))
                add(each, *buckets, explosion::buckets);
        }
        find_common();
        find_names();
        find_tenants();
        std::ranges::stable_sort(found_, std::ranges::greater{}, &finding::series);
        if (found_.size() > findings_max) found_.resize(findings_max);
        return std::move(found_);
    }

  private:
    /// Metrics whose names differ in a number.
    struct alike {
        std::uint64_t names = 0, series = 0, refused = 0;  // in the tables
        time_point since = time_point::max();
    };

    /// A label that has too many values in many metrics, of which none has many series.
    void find_common() {
        for (const subject& each : tenants_of(taken_, refused_)) {
            if (each.series < terms_.series_min) continue;
            const std::uint64_t targets = each.targets() * parts_of_target;
            for (const watched_label& label : each.watched.labels) {
                const std::uint64_t values = each.values(label).values;
                if (values < terms_.values_min || values <= targets || values * common_part < each.series) continue;
                const auto is_same = [&](const finding& other) {
                    return other.label == label.name && other.tenant == each.name->tenant;
                };
                if (std::ranges::none_of(found_, is_same)) add(each, label, explosion::label);
            }
        }
    }

    /// The tables have a part of all metrics, and those that come once stay as long as any: so a part of all is like
    /// them.
    void find_names() {
        const std::uint64_t distinct = taken_.distinct_metrics() + refused_.distinct_metrics();
        if (distinct < terms_.values_min) return;
        std::map<std::pair<std::string_view, std::string>, alike> all;
        std::uint64_t names = 0;
        for (const talker_tables* const board : {&taken_, &refused_})
            for (const talker& each : board->metrics().by_tenant().all()) {
                ++names;
                std::string pattern = name_pattern(each.value);
                if (pattern.find('#') == std::string::npos) continue;
                alike& to = all[{each.tenant, std::move(pattern)}];
                ++to.names;
                to.series += each.series - each.error;
                if (board == &refused_) to.refused += each.series - each.error;
                to.since = std::min(to.since, each.first_seen);
            }
        for (const auto& [name, each] : all) {
            const double scale = std::max(1.0, static_cast<double>(distinct) / static_cast<double>(names));
            const auto scaled = [scale](std::uint64_t count) {
                return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * scale));
            };
            if (scaled(each.names) < terms_.values_min || scaled(each.series) < terms_.series_min) continue;
            finding& made = found_.emplace_back(finding{
                .what = explosion::metric_names,
                .tenant = std::string{name.first},
                .label = "__name__",
                .metrics = {name.second},
                .series = scaled(each.series),
                .refused = scaled(each.refused),
                .values = {.values = scaled(each.names), .least = each.names, .most = distinct},
                .since = each.since,
            });
            name_main_ones(made);
        }
    }

    /// Many tenants that are new, none of them with more than a small part.
    void find_tenants() {
        const std::uint64_t distinct = std::max(taken_.distinct_tenants(), refused_.distinct_tenants());
        if (distinct < terms_.values_min) return;
        finding& made = found_.emplace_back(finding{.what = explosion::tenants,
                                                    .series = taken_.total() + refused_.total(),
                                                    .refused = refused_.total(),
                                                    .values = {.values = distinct, .least = distinct, .most = distinct},
                                                    .since = time_point::max()});
        for (const talker_tables* const board : {&taken_, &refused_})
            for (const talker& each : board->tenants().all()) made.since = std::min(made.since, each.first_seen);
        name_main_ones(made);
    }

    /// Whoever has at least half of all series of the window.
    void name_main_ones(finding& of) const {
        const talker_tables& more = 2 * of.refused > of.series ? refused_ : taken_;
        if (const talker* const sender = main_of(more.senders().in_all(), more.total())) {
            of.sender = sender->value;
            of.agent = sender->detail;
        }
        const talker_table* const jobs = more.values_of("job");
        if (const talker* const job = jobs == nullptr ? nullptr : main_of(jobs->in_all(), more.total()))
            of.job = job->value;
    }

    /// The label with the most values, if these are too many.
    [[nodiscard]] const watched_label* culprit(const subject& of) const {
        const watched_label* worst = nullptr;
        std::uint64_t most = terms_.values_min - 1;
        for (const watched_label& each : of.watched.labels) {
            const std::uint64_t values = of.values(each).values;
            if (values <= most || is_churn(of, each.name, values)) continue;
            most = values;
            worst = &each;
        }
        return worst;
    }

    [[nodiscard]] static bool is_le(const watched_label& label) { return label.name == "le"; }
    [[nodiscard]] const watched_label* many_buckets(const subject& of) const {
        const auto found = std::ranges::find_if(of.watched.labels, is_le);
        const bool has = found != of.watched.labels.end() && of.values(*found).values >= terms_.buckets_min;
        return has ? &*found : nullptr;
    }

    /// Whether targets that are new explain it.
    [[nodiscard]] bool is_churn(const subject& of, std::string_view label, std::uint64_t values) const {
        const std::uint64_t targets = of.targets();
        if (values > targets * parts_of_target) return false;
        const auto has_as_many = [&](const subject& each) {
            return each.name->tenant == of.name->tenant && 2 * each.values(label) >= values;
        };
        return static_cast<std::size_t>(std::ranges::count_if(subjects_, has_as_many)) >= metrics_of_target;
    }

    /// One label may have exploded in several metrics.
    void add(const subject& of, const watched_label& label, explosion what) {
        const auto known = std::ranges::find_if(found_, [&](const finding& each) {
            return each.what == what && each.label == label.name && each.tenant == of.name->tenant;
        });
        if (known != found_.end()) {
            known->series += of.series;
            known->refused += of.refused;
            known->since = std::min(known->since, of.since);
            if (known->metrics.size() < metrics_named_max) known->metrics.push_back(of.name->value);
            return;
        }
        finding& made = found_.emplace_back(finding{.what = what,
                                                    .tenant = of.name->tenant,
                                                    .label = label.name,
                                                    .series = of.series,
                                                    .refused = of.refused,
                                                    .values = of.values(label),
                                                    .since = of.since});
        if (!of.name->value.empty()) made.metrics.push_back(of.name->value);
        if (const talker* const job = main_of(of.watched.jobs, of.series)) made.job = job->value;
        if (const talker* const sender = main_of(of.watched.senders, of.series)) {
            made.sender = sender->value;
            made.agent = sender->detail;
        }
    }
};

}  // namespace

std::vector<finding> find_explosions(const talker_tables& taken, const talker_tables& refused,
                                     const finding_terms& terms) {
    return search{taken, refused, terms}.take();
}

}  // namespace seriesgate
