#include "cardinality/findings.hpp"

#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace seriesgate {
namespace {

using tenant_and_name = std::pair<std::string_view, std::string_view>;

/// Combines the new and the refused series of the same metric, or of the same tenant.
std::vector<subject> subjects_of(const cardinality_tables& taken, const cardinality_tables& refused, bool of_tenants) {
    std::map<tenant_and_name, subject> all;
    for (const cardinality_tables* const tables : {&taken, &refused}) {
        const watched_metrics& of = of_tenants ? tables->watched_tenants() : tables->watched();
        const space_saving& counted = of_tenants ? tables->tenants() : tables->metrics().by_tenant();
        std::map<tenant_and_name, const top_entry*> better;  // more accurate counts, possibly incomplete
        for (const top_entry& each : counted.all())
            better[{each.tenant, of_tenants ? std::string_view{} : each.value}] = &each;
        for (std::size_t i = 0; i < of.metrics().size(); ++i) {
            const top_entry& watched = of.metrics()[i];
            const auto found = better.find({watched.tenant, watched.value});
            const top_entry& each = found == better.end() ? watched : *found->second;
            subject& to = all[{watched.tenant, watched.value}];
            to.since = to.name == nullptr ? each.first_seen : std::min(to.since, each.first_seen);
            to.last = std::max(to.last, each.last_seen);
            to.name = &watched;
            to.series += each.series - each.error;
            to.series_watched += std::max<std::uint64_t>(watched.series - watched.error, 1);
            if (tables == &refused) to.refused += each.series - each.error;
            if ((found == better.end() ? tables->error_of_watched(each) : tables->error_of(each)) != 0)
                to.is_exact = false;
            to.watched.merge(of.watched(i));
        }
    }
    std::vector<subject> made;
    for (auto& [name, each] : all) made.push_back(std::move(each));
    std::ranges::stable_sort(made, std::ranges::greater{}, &subject::series);
    return made;
}

/// Fewest metrics that all targets have; fewer do not indicate a target.
constexpr std::size_t metrics_of_target = 5;
/// Most values of a label that names a part of a target: containers, volumes, network devices.
constexpr std::uint64_t parts_of_target = 8;
/// A label that exploded in all metrics has at most so many series per value on average.
constexpr std::uint64_t common_part = 10;
/// Fewest new targets that explain refused series, and most series of one target.
constexpr std::uint64_t new_targets_min = 20, series_of_target_max = 2'000;

class search {
    const finding_terms& terms_;
    const cardinality_tables& taken_;
    const cardinality_tables& refused_;
    const sampled& all_;
    std::vector<subject> subjects_;
    std::vector<finding> found_{};
    struct origin {
        space_saving jobs, senders;
    };
    std::vector<origin> origins_{};  // of all metrics of the first findings, those that add() makes
    std::set<std::pair<std::string, std::string>> explained_{};  // exploding labels, by tenant

  public:
    search(const cardinality_tables& taken, const cardinality_tables& refused, const finding_terms& terms,
           const sampled& all)
        : terms_(terms), taken_(taken), refused_(refused), all_(all), subjects_(metrics_of(taken, refused)) {}

    std::vector<finding> take() {
        for (const subject& each : subjects_) {
            if (each.series < terms_.series_min) continue;
            if (const auto labels = exploding_labels(each); !labels.empty())
                add(each, labels, explosion::label);
            else if (const watched_label* const buckets = many_buckets(each))
                add(each, {buckets}, explosion::buckets);
        }
        find_common();
        find_names();
        find_tenants();
        find_others_refused();
        for (finding& each : found_) look_closer(each);
        std::ranges::stable_sort(found_, std::ranges::greater{}, &finding::series);
        return std::move(found_);
    }

  private:
    /// Metric names with one pattern.
    struct alike {
        std::uint64_t names = 0, series = 0, refused = 0;  // in the tables
        time_point since = time_point::max(), last{};

        void add(const top_entry& each, bool is_refused, bool is_first) {
            names += is_first ? 1 : 0;
            last = std::max(last, each.last_seen);
            series += each.series - each.error;
            if (is_refused) refused += each.series - each.error;
            since = std::min(since, each.first_seen);
        }
    };

    /// Finds labels with too many values over many small metrics.
    void find_common() {
        for (const subject& each : tenants_of(taken_, refused_)) {
            if (each.series < terms_.series_min) continue;
            const std::uint64_t targets = each.targets() * parts_of_target;
            std::vector<const watched_label*> labels;
            for (const watched_label& label : each.watched.labels) {
                const std::uint64_t values = each.values(label).values, series = each.series_with(label);
                if (values < terms_.values_min || values <= targets || values * common_part < series) continue;
                if (!explained_.contains({each.name->tenant, label.name})) labels.push_back(&label);
            }
            if (!labels.empty()) add(each, most_values_first(each, std::move(labels)), explosion::label);
        }
    }

    /// Finds patterns in metric names. The tables keep a random part of the metrics with one series, so they represent
    /// all.
    void find_names() {
        const std::uint64_t distinct = taken_.distinct_metrics_with(refused_);
        if (distinct < terms_.values_min) return;
        std::map<std::pair<std::string_view, std::string>, alike> all;
        std::map<std::string_view, std::vector<std::string_view>> names;  // by tenant
        // A metric with new and refused series is in both tables.
        std::set<std::pair<std::string_view, std::string_view>> once;
        for_each_name([&](const top_entry& each, bool) {
            if (once.emplace(each.tenant, each.value).second) names[each.tenant].push_back(each.value);
        });
        const std::size_t count = once.size();
        std::map<std::string_view, std::vector<std::string>> patterns;
        for (const auto& [tenant, of_tenant] : names) patterns[tenant] = patterns_of(of_tenant);
        for_each_name([&](const top_entry& each, bool is_refused) {
            const std::string* const pattern = pattern_of(each.value, patterns[each.tenant]);
            const bool is_first = once.erase({each.tenant, each.value}) != 0;
            if (pattern != nullptr) all[{each.tenant, *pattern}].add(each, is_refused, is_first);
        });
        const double scale = std::max(1.0, static_cast<double>(distinct) / static_cast<double>(count));
        for (const auto& [name, each] : all) add_names(name.first, name.second, each, scale, distinct);
    }

    template <class Visit>
    void for_each_name(Visit visit) const {
        for (const cardinality_tables* const tables : {&taken_, &refused_})
            for (const top_entry& each : tables->metrics().by_tenant().all()) visit(each, tables == &refused_);
    }

    void add_names(std::string_view tenant, const std::string& pattern, const alike& each, double scale,
                   std::uint64_t distinct) {
        const auto scaled = [scale](std::uint64_t count) {
            return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) * scale));
        };
        if (scaled(each.names) < terms_.values_min || scaled(each.series) < terms_.series_min) return;
        const auto is_in_all = [tenant](const finding& other) {
            return other.what == explosion::label && other.metrics.empty() && other.tenant == tenant;
        };
        if (pattern.find('*') != std::string::npos && std::ranges::any_of(found_, is_in_all)) return;
        finding& made = found_.emplace_back(finding{
            .what = explosion::metric_names,
            .tenant = std::string{tenant},
            .label = "__name__",
            .labels = {"__name__"},
            .metrics = {pattern},
            .series = scaled(each.series),
            .refused = scaled(each.refused),
            .is_exact = false,
            .values = {.values = scaled(each.names), .least = each.names, .most = distinct},
            .since = each.since,
            .last = each.last,
        });
        name_main_ones(made);
    }

    /// Finds many new tenants, none of which dominates.
    void find_tenants() {
        const std::uint64_t distinct = std::max(taken_.distinct_tenants(), refused_.distinct_tenants());
        const std::uint64_t series = taken_.total() + refused_.total();
        if (distinct < terms_.values_min || series < terms_.series_min) return;
        finding made{.what = explosion::tenants,
                     .series = series,
                     .refused = refused_.total(),
                     .is_exact = taken_.is_exact() && refused_.is_exact(),
                     .values = {.values = distinct, .least = distinct, .most = distinct},
                     .since = time_point::max()};
        for (const cardinality_tables* const tables : {&taken_, &refused_})
            for (const top_entry& each : tables->tenants().all()) {
                made.since = std::min(made.since, each.first_seen);
                made.last = std::max(made.last, each.last_seen);
            }
        if (are_mostly_old(made.since)) return;
        name_main_ones(made);
        found_.push_back(std::move(made));
    }

    /// Whether most tenants with new series had others before, as far as the samples tell.
    [[nodiscard]] bool are_mostly_old(time_point since) const {
        std::set<std::string_view> old, growing;
        for (const auto& each : all_.known) (each->first_seen < since ? old : growing).insert(each->tenant);
        for (const auto& each : all_.refused) growing.insert(each->tenant);
        const auto is_old = [&old](std::string_view tenant) { return old.contains(tenant); };
        return 2 * static_cast<std::size_t>(std::ranges::count_if(growing, is_old)) > growing.size();
    }

    /// Many tenants explain what is refused of one of them, unless it stands out.
    static bool explains(const finding& other, const subject& tenant) {
        if (other.what != explosion::tenants) return other.tenant == tenant.name->tenant;
        return tenant.refused * other.values.values <= 2 * other.refused;
    }

    /// Explains refused series outside any explosion.
    void find_others_refused() {
        for (const subject& each : tenants_of(taken_, refused_)) {
            std::uint64_t explained = 0;
            for (const finding& other : found_)
                if (explains(other, each)) explained += other.refused;
            if (each.refused == 0 || 2 * explained >= each.refused) continue;
            const auto has_most = [&each](const subject& of) {
                return of.name->tenant == each.name->tenant && 2 * of.refused >= each.refused;
            };
            finding made{.what = explosion::growth,
                         .tenant = each.name->tenant,
                         .series = each.series,
                         .refused = each.refused,
                         .is_exact = each.is_exact,
                         .since = each.since,
                         .last = each.last};
            if (const watched_label* const targets = each.new_targets();
                targets != nullptr && each.values(*targets).values >= new_targets_min &&
                each.series <= each.values(*targets).values * series_of_target_max) {
                made.what = explosion::targets;
                made.label = targets->name;
                made.labels = {targets->name};
                made.values = each.values(*targets);
            } else if (const auto most = std::ranges::find_if(subjects_, has_most); most != subjects_.end()) {
                made.metrics = {most->name->value};
            }
            found_.push_back(std::move(made));
        }
    }

    /// Takes times and jobs from the sample. Tables restart every hour and know each metric's labels separately.
    void look_closer(finding& of) const {
        const exploding_series sorted = split_samples(of, all_);
        if (sorted.exploding.empty() || !sorted.is_remembered) return;
        if (sorted.is_certain) of.since = sorted.since;
        std::map<std::string_view, std::size_t> jobs;
        for (const sampled_series* const each : sorted.exploding) ++jobs[value_of(*each, "job")];
        const auto most = std::ranges::max_element(jobs, {}, [](const auto& each) { return each.second; });
        of.job = 2 * most->second >= sorted.exploding.size() ? most->first : std::string_view{};
    }

    /// Names the sender and job that have at least half of its series, even if all others in the window are theirs,
    /// too.
    void name_main_ones(finding& of) const {
        const bool is_refused = 2 * of.refused > of.series;
        const cardinality_tables& more = is_refused ? refused_ : taken_;
        const std::uint64_t own = std::min(is_refused ? of.refused : of.series - of.refused, more.total());
        const std::uint64_t least = 2 * (more.total() - own) + own;  // twice what they have to have in the window
        if (const top_entry* const sender = main_of(more.senders().in_all(), least)) {
            of.sender = sender->value;
            of.agent = sender->detail;
        }
        const cardinality_table* const jobs = more.values_of("job");
        if (const top_entry* const job = jobs == nullptr ? nullptr : main_of(jobs->in_all(), least))
            of.job = job->value;
    }

    /// The label with too many values, and labels with about as many: they change together.
    [[nodiscard]] std::vector<const watched_label*> exploding_labels(const subject& of) const {
        std::vector<const watched_label*> made;
        for (const watched_label& each : of.watched.labels) {
            const std::uint64_t values = of.values(each).values;
            if (values >= terms_.values_min && !is_churn(of, each.name, values)) made.push_back(&each);
        }
        return most_values_first(of, std::move(made));
    }

    static std::vector<const watched_label*> most_values_first(const subject& of,
                                                               std::vector<const watched_label*> labels) {
        const auto values = [&of](const watched_label* each) { return of.values(*each).values; };
        std::ranges::stable_sort(labels, std::ranges::greater{}, values);
        std::erase_if(labels, [&, most = labels.empty() ? 0 : values(labels.front())](const watched_label* each) {
            return 2 * values(each) < most;
        });
        return labels;
    }

    [[nodiscard]] static bool is_le(const watched_label& label) { return label.name == "le"; }
    [[nodiscard]] const watched_label* many_buckets(const subject& of) const {
        const auto found = std::ranges::find_if(of.watched.labels, is_le);
        const bool has = found != of.watched.labels.end() && of.values(*found).values >= terms_.buckets_min;
        return has ? &*found : nullptr;
    }

    /// Whether new targets explain the values.
    [[nodiscard]] bool is_churn(const subject& of, std::string_view label, std::uint64_t values) const {
        const std::uint64_t targets = of.targets();
        if (values > targets * parts_of_target) return false;
        const auto has_as_many = [&](const subject& each) {
            return each.name->tenant == of.name->tenant && 2 * each.values(label) >= values;
        };
        return static_cast<std::size_t>(std::ranges::count_if(subjects_, has_as_many)) >= metrics_of_target;
    }

    /// Merges explosions of one label in several metrics; keeps only the labels that all of them share.
    void add(const subject& of, const std::vector<const watched_label*>& labels, explosion what) {
        std::vector<std::string> names;
        for (const watched_label* const each : labels) {
            names.push_back(each->name);
            explained_.emplace(of.name->tenant, each->name);
        }
        const value_count values = of.values(*labels.front());
        for (std::size_t i = 0; i < origins_.size(); ++i) {
            finding& known = found_[i];
            if (known.what != what || known.tenant != of.name->tenant || known.metrics.empty()) continue;
            auto both = known.labels;
            std::erase_if(both, [&](const std::string& each) { return std::ranges::find(names, each) == names.end(); });
            if (both.empty()) continue;
            known.labels = std::move(both);
            known.label = known.labels.front();
            known.series += of.series;
            known.refused += of.refused;
            known.is_exact = known.is_exact && of.is_exact;
            known.since = std::min(known.since, of.since);
            known.last = std::max(known.last, of.last);
            if (values.values > known.values.values) known.values = values;
            known.metrics.push_back(of.name->value);
            origins_[i].jobs.merge(of.watched.jobs);
            origins_[i].senders.merge(of.watched.senders);
            name_origin(known, origins_[i], known.series);
            return;
        }
        const bool is_common = of.name->value.empty();
        finding& made = found_.emplace_back(finding{.what = what,
                                                    .tenant = of.name->tenant,
                                                    .label = names.front(),
                                                    .labels = names,
                                                    .series = is_common ? of.series_with(*labels.front()) : of.series,
                                                    .refused = of.refused,
                                                    .is_exact = of.is_exact && !is_common,
                                                    .values = values,
                                                    .since = of.since,
                                                    .last = of.last});
        made.refused = std::min(made.refused, made.series);
        if (!is_common) made.metrics.push_back(of.name->value);
        origins_.push_back({.jobs = of.watched.jobs, .senders = of.watched.senders});
        name_origin(made, origins_.back(), of.series);
    }

    static void name_origin(finding& of, const origin& from, std::uint64_t series) {
        const top_entry* const job = main_of(from.jobs, series);
        const top_entry* const sender = main_of(from.senders, series);
        of.job = job == nullptr ? std::string{} : job->value;
        of.sender = sender == nullptr ? std::string{} : sender->value;
        of.agent = sender == nullptr ? std::string{} : sender->detail;
    }
};

}  // namespace

std::vector<subject> metrics_of(const cardinality_tables& taken, const cardinality_tables& refused) {
    return subjects_of(taken, refused, false);
}

std::vector<subject> tenants_of(const cardinality_tables& taken, const cardinality_tables& refused) {
    return subjects_of(taken, refused, true);
}

const top_entry* main_of(const space_saving& of, std::uint64_t series) {
    const auto most = std::ranges::max_element(of.all(), {}, &top_entry::series);
    return most != of.all().end() && (most->series - most->error) * 2 >= series ? &*most : nullptr;
}

std::vector<finding> find_explosions(const cardinality_tables& taken, const cardinality_tables& refused,
                                     const finding_terms& terms, const sampled& all) {
    return search{taken, refused, terms, all}.take();
}

void mark_over(std::vector<finding>& all, time_point now, const watched_refusals& refusals) {
    for (finding& each : all) {
        time_point last = each.last;
        if (each.refused > 0) last = std::max(last, refusals.last.value_or(last));
        const time_point known = each.refused > 0 ? std::max(last, refusals.watched_since) : last;
        if (now - known >= over_after) each.over_since = last;
    }
    // std::stable_partition: clang 14 cannot compile libstdc++ 12's std::ranges::stable_partition.
    std::stable_partition(all.begin(), all.end(), [](const finding& each) { return !each.over_since; });
}

}  // namespace seriesgate
