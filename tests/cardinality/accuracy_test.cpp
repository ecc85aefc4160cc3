// How right the tables are, against exact counts.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "cardinality/cardinality_tracker.hpp"
#include "series/label.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/write_request.hpp"

namespace seriesgate::testing::accuracy_test {
namespace {

const time_point noon{std::chrono::hours{12}};
const std::vector<std::string> chosen{"job", "instance"};

using exact_counts = std::map<std::string, std::uint64_t>;

/// Those with the most, and whoever has as many as the last of them.
std::set<std::string> top_of(const exact_counts& exact, std::size_t most) {
    std::vector<std::uint64_t> counts;
    for (const auto& [name, count] : exact) counts.push_back(count);
    std::ranges::sort(counts, std::greater{});
    const std::uint64_t least = counts[std::min(most, counts.size()) - 1];
    std::set<std::string> top;
    for (const auto& [name, count] : exact)
        if (count >= least) top.insert(name);
    return top;
}

/// How many of the first ten of the table belong there; all counts have to be as right as they say.
int right_ones(const cardinality_tables& tables, const space_saving& table, const exact_counts& exact) {
    std::vector<top_entry> all{table.all().begin(), table.all().end()};
    std::ranges::stable_sort(all, std::greater{}, &top_entry::series);
    for (const top_entry& each : all) {
        const std::uint64_t count = exact.at(each.value), error = tables.error_of(each);
        CAPTURE(each.value, each.series, count, error);
        REQUIRE(count <= each.series + error);
        REQUIRE(each.series <= count + error);
    }
    const std::set<std::string> top = top_of(exact, 10);
    all.resize(std::min<std::size_t>(all.size(), 10));
    return static_cast<int>(
        std::ranges::count_if(all, [&](const top_entry& each) { return top.contains(each.value); }));
}

/// Series whose metric, job and instance are drawn: a few have most of them.
class drawn_series final : public label_source {
    std::mt19937_64 random_;
    std::discrete_distribution<std::size_t> zipf_;
    std::vector<std::string> names_;
    std::vector<std::uint64_t> fingerprints_;
    struct drawn {
        std::size_t metric, job, instance;
    };
    std::vector<drawn> drawn_;
    std::vector<label_view> labels_;

  public:
    exact_counts metrics, jobs, instances;

    drawn_series(std::uint64_t seed, std::size_t names, double exponent) : random_(seed) {
        std::vector<double> weights;
        for (std::size_t i = 0; i < names; ++i) {
            weights.push_back(1 / std::pow(static_cast<double>(i + 1), exponent));
            names_.push_back(fmt::format("name_{}", i * 7'919 % names));
        }
        zipf_ = std::discrete_distribution<std::size_t>(weights.begin(), weights.end());
    }

    void offer(cardinality_tracker& tracker, std::size_t count) {
        fingerprints_.clear();
        drawn_.clear();
        for (std::size_t i = 0; i < count; ++i) {
            const drawn one{zipf_(random_), zipf_(random_), zipf_(random_)};
            ++metrics[names_[one.metric]];
            ++jobs[names_[one.job]];
            ++instances[names_[one.instance]];
            fingerprints_.push_back(random_());
            drawn_.push_back(one);
        }
        tracker.note(series_event::newly_admitted, fingerprints_, *this, {.address = "10.0.0.1"}, noon);
    }

    std::span<const label_view> labels(std::size_t entry) override {
        const drawn& of = drawn_[entry];
        labels_ = {{"__name__", names_[of.metric]}, {"instance", names_[of.instance]}, {"job", names_[of.job]}};
        return labels_;
    }
    histogram_family family(std::size_t, std::span<const label_view>) override { return {}; }
};

TEST_CASE("the top ten of a million series by Zipf are right, and counts within their bounds") {
    int right = 0, all = 0;
    for (std::uint64_t seed = 1; seed <= (sanitized ? 1 : 10); ++seed) {
        drawn_series series{seed, 20'000, 1.1};
        cardinality_tracker tracker{chosen, hash_key::known_to_all(), noon};
        for (int i = 0; i < 100; ++i) series.offer(tracker, 10'000);
        const cardinality_tables tables = tracker.tables(series_event::newly_admitted, cardinality_window::hourly);
        right += right_ones(tables, tables.metrics().in_all(), series.metrics);
        right += right_ones(tables, tables.values_of("job")->in_all(), series.jobs);
        right += right_ones(tables, tables.values_of("instance")->in_all(), series.instances);
        all += 30;
    }
    CAPTURE(right, all);
    CHECK(100 * right >= 99 * all);
}

TEST_CASE("as long as every series is looked at, the top ten are exact") {
    drawn_series series{42, 200, 1.0};
    cardinality_tracker tracker{chosen, hash_key::known_to_all(), noon};
    series.offer(tracker, cardinality_tracker::counted_max);
    const cardinality_tables tables = tracker.tables(series_event::newly_admitted, cardinality_window::hourly);
    for (const top_entry& each : tables.metrics().in_all().all()) {
        CHECK(tables.error_of(each) == 0);
        CHECK(each.series == series.metrics.at(each.value));
    }
    CHECK(right_ones(tables, tables.metrics().in_all(), series.metrics) == 10);
}

TEST_CASE("recorded requests are counted as they are") {
    const hash_key& key = hash_key::known_to_all();
    cardinality_tables tables{chosen, key};
    exact_counts metrics, jobs, instances;
    std::map<std::string, std::map<std::string, std::set<std::string>>> values;  // by metric and label
    std::set<std::string> seen;
    std::vector<label_view> labels;
    for (const std::string& path : recorded_files("prometheus-3.5-v1")) {
        const std::string body = decoded_file(path);
        write_request_reader reader{body};
        while (reader.next()) {
            reader.labels(reader.series().record, labels);
            if (!seen.insert(to_text(labels, 1 << 20)).second) continue;
            tables.count(labels, {.address = "10.0.0.1"}, {.counted = 1, .watched = 1}, noon);
            const std::string metric{label_value(labels, "__name__")};
            ++metrics[metric];
            ++jobs[std::string{label_value(labels, "job")}];
            ++instances[std::string{label_value(labels, "instance")}];
            for (const label_view& each : labels)
                if (each.name != "__name__") values[metric][std::string{each.name}].insert(std::string{each.value});
        }
        REQUIRE_FALSE(reader.failed());
    }
    CHECK(tables.total() == seen.size());
    CHECK(right_ones(tables, tables.metrics().in_all(), metrics) == 10);
    CHECK(right_ones(tables, tables.values_of("job")->in_all(), jobs) ==
          static_cast<int>(std::min<std::size_t>(10, jobs.size())));
    CHECK(right_ones(tables, tables.values_of("instance")->in_all(), instances) == 10);
    // Of metrics that have been watched from their first series on, labels have as many values as they have.
    int watched_from_start = 0;
    for (std::size_t place = 0; place < tables.watched().metrics().size(); ++place) {
        const top_entry& metric = tables.watched().metrics()[place];
        if (metric.error != 0) continue;
        ++watched_from_start;
        for (const watched_label& label : tables.watched().watched(place).labels) {
            const auto exact = static_cast<double>(values.at(metric.value).at(label.name).size());
            CAPTURE(metric.value, label.name, exact);
            CHECK(std::abs(static_cast<double>(count_values(label).values) - exact) <=
                  4 * small_sketch::standard_error * exact);
        }
    }
    CHECK(watched_from_start >= 1);
}

}  // namespace
}  // namespace seriesgate::testing::accuracy_test
