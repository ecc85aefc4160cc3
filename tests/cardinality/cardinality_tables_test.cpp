#include "cardinality/cardinality_tables.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "cardinality/cardinality_tracker.hpp"
#include "support/catch.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing::cardinality_tables_test {
namespace {

const time_point noon{std::chrono::hours{12}};
const std::vector<std::string> chosen{"job", "namespace", "instance"};
const request_sender shop{.tenant = "shop", .address = "10.0.0.3", .agent = "Prometheus/3.5"};

using label_texts = std::map<std::string, std::string>;

/// Notes series by their labels.
struct noting {
    cardinality_tables board{chosen, hash_key::known_to_all()};
    thinning distinct{cardinality_tracker::counted_max}, watched{cardinality_tracker::watched_max};
    std::size_t shown = 0;  // series that were looked at

    void note(const label_texts& texts, const request_sender& sender = shop, time_point now = noon) {
        std::uint64_t fingerprint = hash_key::known_to_all()(sender.tenant);
        std::vector<label_view> labels;
        for (const auto& [name, value] : texts) {
            labels.push_back({name, value});
            fingerprint += hash_key::known_to_all()(name + "=" + value);
        }
        const std::uint64_t weight = distinct.weigh(fingerprint);
        if (weight == 0) return;
        ++shown;
        board.count(labels, sender, {.counted = weight, .watched = watched.weigh(fingerprint)}, now);
    }
};

const top_entry& find(const space_saving& in, std::string_view value, std::string_view tenant = "shop") {
    const auto all = in.all();
    const auto found =
        std::ranges::find_if(all, [&](const top_entry& each) { return each.value == value && each.tenant == tenant; });
    if (found == all.end()) throw std::runtime_error{"no such talker"};
    return *found;
}

std::uint64_t values_of(const cardinality_tables& board, std::string_view metric, std::string_view label) {
    const auto metrics = board.watched().metrics();
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        if (metrics[i].value != metric) continue;
        const auto& labels = board.watched().watched(i).labels;
        const auto found = std::ranges::find(labels, label, &watched_label::name);
        return found == labels.end() ? 0 : count_values(*found).values;
    }
    return 0;
}

label_texts request(int id, const std::string& path) {
    return {{"__name__", "http_requests_total"},
            {"job", "shop"},
            {"instance", "a:80"},
            {"path", path},
            {"trace_id", fmt::format("t{}", id)}};
}

TEST_CASE("a board says whose series there are, each counted once") {
    noting all;
    for (int times = 0; times < 3; ++times)
        for (int id = 0; id < 1'000; ++id)
            all.note(request(id, id % 2 == 0 ? "/a" : "/b"), shop, noon + std::chrono::seconds{times});
    all.note({{"__name__", "up"}, {"job", "node"}}, {.tenant = "other", .address = "10.0.0.4"});
    CHECK(all.shown == 1'001);
    CHECK(all.board.total() == 1'001);
    CHECK(all.board.distinct_metrics() == 2);
    const top_entry& requests = find(all.board.metrics().by_tenant(), "http_requests_total");
    CHECK(requests.series == 1'000);
    CHECK(requests.error == 0);
    CHECK(find(all.board.metrics().by_tenant(), "up", "other").series == 1);
    CHECK(find(all.board.tenants(), "shop").series == 1'000);
    const top_entry& sender = find(all.board.senders().by_tenant(), "10.0.0.3");
    CHECK(sender.series == 1'000);
    CHECK(sender.detail == "Prometheus/3.5");
    REQUIRE(all.board.values_of("instance") != nullptr);
    CHECK(find(all.board.values_of("instance")->by_tenant(), "a:80").series == 1'000);
    CHECK(all.board.values_of("namespace")->in_all().all().empty());
    CHECK(all.board.values_of("path") == nullptr);
    CHECK(values_of(all.board, "http_requests_total", "path") == 2);
    CHECK(values_of(all.board, "http_requests_total", "instance") == 1);
    const auto traces = static_cast<double>(values_of(all.board, "http_requests_total", "trace_id"));
    CHECK(std::abs(traces - 1'000) < 4 * small_sketch::standard_error * 1'000);
    CHECK(all.distinct.weight() == 1);
}

TEST_CASE("a series without a job, from nobody who has a name, adds none to its metric's") {
    watched_metrics watched{2};
    const std::vector<label_view> labels{{"__name__", "up"}, {"path", "/a"}};
    watched.note({.metric = {.value = "up"}, .labels = labels}, hash_key::known_to_all(), noon);
    REQUIRE(watched.metrics().size() == 1);
    CHECK(watched.watched(0).labels.size() == 1);
    CHECK(watched.watched(0).jobs.all().empty());
    CHECK(watched.watched(0).senders.all().empty());
}

TEST_CASE("a watched label with more error than series, or too long a name, is damage") {
    const auto is_taken = [](watched_label label) {
        watched_metric saved, read;
        saved.labels.push_back(std::move(label));
        return reads_text(read, saved_text(saved)).has_value();
    };
    CHECK(is_taken({.name = "a", .series = 2, .error = 2}));
    CHECK_FALSE(is_taken({.name = "a", .series = 1, .error = 2}));
    CHECK(is_taken({.name = std::string(space_saving::text_max, 'x')}));
    CHECK_FALSE(is_taken({.name = std::string(space_saving::text_max + 1, 'x')}));
}

TEST_CASE("the same metric of two tenants are two") {
    noting all;
    all.note({{"__name__", "up"}}, {.tenant = "a"});
    all.note({{"__name__", "up"}}, {.tenant = "b"});
    CHECK(find(all.board.metrics().by_tenant(), "up", "a").series == 1);
    CHECK(find(all.board.metrics().by_tenant(), "up", "b").series == 1);
    CHECK(all.board.senders().in_all().all().empty());
}

TEST_CASE("of a million series, counts and values are right but for what is said") {
    noting all;
    std::map<std::string, std::uint64_t> exact;
    std::mt19937_64 random{5};
    for (int id = 0; id < 1'000'000; ++id) {
        const std::string metric = fmt::format("m{}", std::min<std::uint64_t>(random() % 40, random() % 40));
        ++exact[metric];
        all.note({{"__name__", metric},
                  {"id", std::to_string(id)},
                  {"five", std::to_string(id / 5)},
                  {"ten", std::to_string(id % 10)}});
    }
    const std::uint64_t weight = all.distinct.weight(), watched_weight = all.watched.weight();
    CHECK(weight == 32);
    CHECK(watched_weight == 128);
    CHECK(all.shown < 250'000);
    for (const auto& [metric, count] : exact) {
        CAPTURE(metric, count);
        const top_entry& counted = find(all.board.metrics().by_tenant(), metric);
        CHECK(static_cast<double>(all.board.error_of(counted)) <=
              std::ceil(4 * std::sqrt(static_cast<double>(counted.series * weight))));
        CHECK(counted.series <= count + all.board.error_of(counted));
        CHECK(count <= counted.series + all.board.error_of(counted));
        if (count > 20'000) CHECK(values_of(all.board, metric, "ten") == 10);
        const auto ids = static_cast<double>(values_of(all.board, metric, "id"));
        CHECK(std::abs(ids / static_cast<double>(count) - 1) <
              4 * small_sketch::standard_error +
                  4 * std::sqrt(static_cast<double>(watched_weight) / static_cast<double>(count)));
    }
}

TEST_CASE("two hours are counted in both") {
    noting one, other;
    for (int id = 0; id < 300; ++id) one.note(request(id, "/a"));
    for (int id = 200; id < 600; ++id) other.note(request(id, "/b"), shop, noon + std::chrono::hours{1});
    one.board.merge(other.board);
    CHECK(one.board.total() == 700);
    const top_entry& requests = find(one.board.metrics().by_tenant(), "http_requests_total");
    CHECK(requests.series == 700);
    CHECK(requests.first_seen == noon);
    CHECK(requests.last_seen == noon + std::chrono::hours{1});
    CHECK(values_of(one.board, "http_requests_total", "path") == 2);
    const auto traces = static_cast<double>(values_of(one.board, "http_requests_total", "trace_id"));
    CHECK(std::abs(traces - 600) < 4 * small_sketch::standard_error * 600);
    CHECK(find(one.board.values_of("job")->by_tenant(), "shop").series == 700);
}

TEST_CASE("a flood of metrics and labels stays within the tables") {
    noting all;
    for (int i = 0; i < 50'000; ++i) all.note({{"__name__", fmt::format("m{}", i)}, {fmt::format("l{}", i), "x"}});
    for (int i = 0; i < 5'000; ++i) all.note({{"__name__", "one"}, {fmt::format("l{}", i), "x"}});
    CHECK(all.board.metrics().by_tenant().all().size() == cardinality_tables::metrics_max);
    CHECK(all.board.watched().metrics().size() == watched_metrics::metrics_max);
    const top_entry& one = find(all.board.metrics().by_tenant(), "one");
    CHECK(one.series >= 5'000);
    CHECK(one.series - one.error <= 5'000);
    CHECK(one.error <= all.board.total() / cardinality_tables::metrics_max);
    for (std::size_t i = 0; i < all.board.watched().metrics().size(); ++i)
        CHECK(all.board.watched().watched(i).labels.size() <= watched_metric::labels_max);
    const auto names = static_cast<double>(all.board.distinct_metrics());
    CHECK(std::abs(names - 50'001) < 4 * small_sketch::standard_error * 50'001);
}

}  // namespace
}  // namespace seriesgate::testing::cardinality_tables_test
