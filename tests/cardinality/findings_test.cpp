#include "cardinality/findings.hpp"

#include <random>

#include "cardinality/cardinality_tracker.hpp"
#include "support/catch.hpp"
#include "support/near.hpp"

namespace seriesgate::testing::findings_test {
namespace {

const time_point start{std::chrono::hours{10} + std::chrono::minutes{4}};
const request_sender prometheus{.address = "10.0.0.3", .agent = "Prometheus/3.5"};

using label_texts = std::map<std::string, std::string>;

std::string numbered(const std::string& text, std::uint64_t number) {
    return text + std::to_string(number);
}

/// What a gate notes in an hour.
struct hour {
    std::vector<std::string> chosen{"job", "namespace", "instance"};
    cardinality_tables taken{chosen, hash_key::known_to_all()};
    cardinality_tables refused{chosen, hash_key::known_to_all()};
    struct weighing {
        thinning counted{cardinality_tracker::counted_max}, watched{cardinality_tracker::watched_max};
    };
    weighing looked_at_taken{}, looked_at_refused{};
    std::uint64_t series_max = 1'000'000;

    void note(const label_texts& texts, const request_sender& sender = prometheus, time_point now = start) {
        std::uint64_t fingerprint = hash_key::known_to_all()(sender.tenant);
        std::vector<label_view> labels;
        for (const auto& [name, value] : texts) {
            labels.push_back({name, value});
            fingerprint += hash_key::known_to_all()(name + "=" + value);
        }
        const bool has_room = taken.total() < series_max;
        weighing& by = has_room ? looked_at_taken : looked_at_refused;
        const std::uint64_t weight = by.counted.weigh(fingerprint);
        if (weight == 0) return;
        (has_room ? taken : refused)
            .count(labels, sender, {.counted = weight, .watched = by.watched.weigh(fingerprint)}, now);
    }

    /// Of a target: what each has.
    void start_target(std::uint64_t number, int metrics = 40) {
        for (int metric = 0; metric < metrics; ++metric)
            note({{"__name__", numbered("app_metric_", 0) + std::string(1, static_cast<char>('a' + metric % 26)) +
                                   std::string(1, static_cast<char>('a' + metric / 26))},
                  {"job", "app"},
                  {"instance", numbered("10.1.0.", number) + ":8080"},
                  {"pod", numbered("app-7d9f-", number)},
                  {"container_id", numbered("c", number * 3 + static_cast<std::uint64_t>(metric) % 3)},
                  {"mode", metric % 2 == 0 ? "a" : "b"}});
    }

    [[nodiscard]] std::vector<finding> find() const { return find_explosions(taken, refused); }
    /// The only one.
    [[nodiscard]] finding find_one() const {
        std::vector<finding> found = find();
        REQUIRE(found.size() == 1);
        return found.front();
    }
};

/// Names without a number in them.
std::string lettered(std::uint64_t number) {
    std::string made = "metric_";
    for (int i = 0; i < 4; ++i, number /= 26) made += static_cast<char>('a' + number % 26);
    return made;
}

label_texts request(std::uint64_t id) {
    return {{"__name__", "http_requests_total"},
            {"job", "shop"},
            {"instance", numbered("10.2.0.", id % 10)},
            {"path", numbered("/p", id % 50)},
            {"trace_id", numbered("t", id)}};
}

TEST_CASE("a trace id") {
    hour now;
    now.series_max = 20'000;
    for (std::uint64_t id = 0; id < 100'000; ++id) now.note(request(id));
    const finding found = now.find_one();
    CHECK(found.what == explosion::label);
    CHECK(found.label == "trace_id");
    CHECK(found.metrics == std::vector<std::string>{"http_requests_total"});
    // Of 100,000 and of 80,000 refused: every second of these stands for two.
    CHECK(is_near(found.series, 100'000, 0.01));
    CHECK(is_near(found.refused, 80'000, 0.01));
    CHECK(found.values.values <= found.series);
    CHECK(is_near(found.values.values, 100'000, 0.05));
    CHECK(found.job == "shop");
    CHECK(found.sender == "10.0.0.3");
    const std::string text = to_text(found);
    CAPTURE(text);
    CHECK(text.starts_with("label trace_id of http_requests_total has "));
    CHECK(text.ends_with(" new series of job shop, from 10.0.0.3 (Prometheus/3.5), since 10:04 UTC"));
}

TEST_CASE("counts are exact while all are counted, and say so when they are not") {
    hour now;
    now.series_max = 1'000;
    for (std::uint64_t id = 0; id < 30'000; ++id) now.note(request(id));
    auto found = now.find();
    REQUIRE(found.size() == 1);
    CHECK((found[0].is_exact && found[0].series == 30'000 && found[0].refused == 29'000));
    CHECK(to_text(found[0]).find("values among 30,000 new series of job shop") != std::string::npos);
    CHECK(to_text(found[0]).starts_with("label trace_id of http_requests_total has about "));
    for (std::uint64_t id = 30'000; id < 60'000; ++id) now.note(request(id));
    found = now.find();
    CHECK_FALSE(found[0].is_exact);
    CHECK(to_text(found[0]).find("values among about ") != std::string::npos);
}

TEST_CASE("what is refused and no explosion is counted as exactly as all is") {
    hour now;
    now.series_max = 3'000;
    for (std::uint64_t id = 0; id < 20'000; ++id)  // 200 metrics, 100 values of two labels
        now.note(
            {{"__name__", lettered(id % 200)}, {"a", numbered("x", id / 200 % 10)}, {"b", numbered("y", id / 2'000)}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::growth);
    CHECK(to_text(found).starts_with("17,000 of 20,000 new series are refused, and no label has exploded, since "));
}

TEST_CASE("growth names the metric that is refused, if most are of one") {
    hour now;
    now.series_max = 3'000;
    for (std::uint64_t i = 0; i < 3'000; ++i)
        now.note({{"__name__", "big"}, {"a", numbered("x", i % 60)}, {"b", numbered("y", i / 60)}});
    for (std::uint64_t i = 0; i < 400; ++i) now.note({{"__name__", "small"}, {"id", numbered("i", i)}});
    const finding found = now.find_one();
    CHECK(found.metrics == std::vector<std::string>{"small"});
    CHECK(to_text(found).starts_with(
        "400 of 3,400 new series are refused, and no label has exploded; most are of small"));
}

TEST_CASE("a finding is over some minutes after the last of it, and no longer when it comes back") {
    using std::chrono::minutes;
    hour now;
    now.series_max = 1'500;
    for (std::uint64_t id = 0; id < 1'500; ++id) now.note(request(id));
    const auto over = [&](time_point at, const watched_refusals& refusals) {
        auto found = now.find();
        mark_over(found, at, refusals);
        return found.at(0).over_since;
    };
    CHECK_FALSE(over(start + minutes{4}, {}));
    CHECK(over(start + over_after, {}) == start);  // nothing of it was refused
    CHECK(over(start + over_after, {.last = start + minutes{4}}) == start);
    for (std::uint64_t id = 1'500; id < 2'000; ++id) now.note(request(id), prometheus, start + minutes{5});
    CHECK_FALSE(over(start + minutes{9}, {}));
    CHECK(over(start + minutes{10}, {}) == start + minutes{5});
    // What was refused comes again and again, and is no new series.
    CHECK_FALSE(over(start + minutes{20}, {.last = start + minutes{18}}));
    CHECK(over(start + minutes{23}, {.last = start + minutes{18}}) == start + minutes{18});
    // A gate that has just been started has not seen yet whether it goes on.
    CHECK_FALSE(over(start + minutes{23}, {.watched_since = start + minutes{21}}));
    auto found = now.find();
    mark_over(found, start + minutes{10}, {});
    CHECK(to_text(found[0]).ends_with(", since 10:04 UTC, over since 10:09 UTC"));
    found.insert(found.begin(), found[0]);
    found[1].over_since.reset();
    found[1].last = start + minutes{9};
    mark_over(found, start + minutes{10}, {});
    CHECK((!found[0].over_since && found[1].over_since));  // what goes on comes first
}

TEST_CASE("pods that are rolled out are no explosion") {
    hour now;
    for (std::uint64_t pod = 0; pod < 2'000; ++pod) now.start_target(pod);
    CHECK(now.find().empty());
}

TEST_CASE("an explosion in the middle of a roll-out is found") {
    hour now;
    for (std::uint64_t pod = 0; pod < 1'000; ++pod) now.start_target(pod);
    for (std::uint64_t id = 0; id < 20'000; ++id) now.note(request(id));
    const finding found = now.find_one();
    CHECK(found.label == "trace_id");
}

TEST_CASE("a user id in several metrics is one finding") {
    hour now;
    for (std::uint64_t id = 0; id < 6'000; ++id)
        for (const char* const metric : {"logins_total", "orders_total", "clicks_total"})
            now.note({{"__name__", metric},
                      {"job", "web"},
                      {"instance", numbered("w", id % 4)},
                      {"user_id", numbered("u", id)}});
    const finding found = now.find_one();
    CHECK(found.label == "user_id");
    CHECK(found.metrics.size() == 3);
    CHECK(found.series == 18'000);
    CHECK(to_text(found).find(" and 2 more has ") != std::string::npos);
}

TEST_CASE("no sender or job is named for metrics that come from several") {
    const bool is_one = GENERATE(false, true);
    hour now;
    std::uint64_t count = 2'000;
    for (const char* const from : {"1", "2", "3"}) {
        const std::string address = numbered("10.0.0.", is_one ? 1 : count);
        for (std::uint64_t id = 0; id < count; ++id)
            now.note({{"__name__", std::string("metric_") + from}, {"job", address}, {"user_id", numbered("u", id)}},
                     {.address = address, .agent = "vmagent"});
        count -= 100;
    }
    const finding found = now.find_one();
    CHECK(found.metrics.size() == 3);
    CHECK(found.sender == (is_one ? "10.0.0.1" : ""));
    CHECK(found.agent == (is_one ? "vmagent" : ""));
    CHECK(found.job == (is_one ? "10.0.0.1" : ""));
}

TEST_CASE("two explosions at once are two") {
    hour now;
    for (std::uint64_t id = 0; id < 10'000; ++id) {
        now.note(request(id));
        now.note({{"__name__", "mails_total"}, {"job", "mail"}, {"instance", "m"}, {"address", numbered("a", id / 2)}},
                 {.address = "10.0.0.4", .agent = "vmagent"});
    }
    const auto found = now.find();
    REQUIRE(found.size() == 2);
    CHECK(found[0].label == "trace_id");
    CHECK(found[1].label == "address");
    CHECK(found[1].sender == "10.0.0.4");
}

TEST_CASE("metrics with ids in their names") {
    hour now;
    for (std::uint64_t id = 0; id < 5'000; ++id)
        for (const char* const path : {"a", "b"})
            now.note({{"__name__", numbered("user_", id) + "_requests_total"}, {"job", "web"}, {"path", path}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::metric_names);
    CHECK(found.metrics == std::vector<std::string>{"user_#_requests_total"});
    CHECK(found.job == "web");
    CHECK(found.sender == "10.0.0.3");
    CHECK(found.values.values > 4'500);
    CHECK(found.values.values < 5'500);
    CHECK(to_text(found).find(" metrics are called user_#_requests_total, and have ") != std::string::npos);
}

TEST_CASE("a histogram with new buckets") {
    hour now;
    for (std::uint64_t id = 0; id < 20'000; ++id)
        now.note({{"__name__", "latency_seconds_bucket"},
                  {"job", "web"},
                  {"instance", numbered("w", id % 4)},
                  {"path", numbered("/p", id / 4 % 25)},
                  {"le", numbered("0.", id / 100)}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::buckets);
    CHECK(found.label == "le");
}

TEST_CASE("a label that is in all metrics") {
    hour now;
    for (std::uint64_t id = 0; id < 15'000; ++id)
        now.note({{"__name__", lettered(id % 3'000)},
                  {"job", "app"},
                  {"instance", numbered("i", id % 20)},
                  {"version", numbered("v", id)}});
    const finding found = now.find_one();
    CHECK(found.label == "version");
    CHECK(found.metrics.empty());
    CHECK(is_near(found.series, 15'000, 0.05));
    CHECK(to_text(found).starts_with("label version of many metrics has "));
}

TEST_CASE("names of letters that nobody has chosen are one finding") {
    std::mt19937_64 random{7};
    const auto word = [&random](std::string_view characters) {
        std::string made;
        for (int i = 0; i < 8; ++i) made += characters[random() % characters.size()];
        return made;
    };
    const std::string_view characters = GENERATE(std::string_view{"abcdefghijklmnopqrstuvwxyz"},
                                                 std::string_view{"0123456789abcdefghijklmnopqrstuvwxyz"});
    hour now;
    now.start_target(1, 20);
    for (int i = 0; i < 20'000; ++i) now.note({{"__name__", "shop_" + word(characters) + "_total"}, {"job", "web"}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::metric_names);
    CHECK(found.metrics == std::vector<std::string>{"shop_*_total"});
    CHECK(found.job == "web");
    CHECK(is_near(found.series, 20'000, 0.1));
}

TEST_CASE("many names that people have chosen are no explosion") {
    hour now;
    for (std::uint64_t id = 0; id < 12'000; ++id) {
        std::string name = "kafka";
        for (std::uint64_t rest = id % 3'000; rest != 0; rest /= 15)
            name += "_" + std::string(5, static_cast<char>('a' + rest % 15));
        now.note({{"__name__", name}, {"job", "kafka"}, {"instance", numbered("k", id / 3'000)}});
    }
    CHECK(now.find().empty());
}

TEST_CASE("labels that change together are one finding, whichever has more values") {
    hour now;
    for (std::uint64_t id = 0; id < 8'000; ++id) {
        const std::string trace = numbered("t", id), span = numbered("s", id);
        now.note({{"__name__", "calls_total"}, {"job", "a"}, {"trace_id", trace}, {"span_id", span}});
        now.note({{"__name__", "errors_total"}, {"job", "a"}, {"trace_id", trace}, {"span_id", span}});
        now.note({{"__name__", lettered(id % 100)}, {"job", "b"}, {"path", numbered("p", id / 100)}});
    }
    const finding found = now.find_one();
    CHECK(found.labels.size() == 2);
    CHECK(found.metrics.size() == 2);
    CHECK(found.series == 16'000);
}

TEST_CASE("targets that come anew are named once a limit has no room for them") {
    hour now;
    now.series_max = 1'000;
    for (std::uint64_t pod = 0; pod < 2'000; ++pod) now.start_target(pod);
    const finding found = now.find_one();
    CHECK(found.what == explosion::targets);
    CHECK(is_near(found.values.values, 2'000, 0.05));
    CHECK(is_near(found.refused, 79'000, 0.01));
    CHECK(to_text(found).find(" new targets (label ") != std::string::npos);
}

TEST_CASE("what is refused and no explosion is named for all that") {
    hour now;
    now.series_max = 100;
    for (std::uint64_t id = 0; id < 400; ++id)
        now.note({{"__name__", lettered(id % 4)}, {"job", "app"}, {"path", numbered("/p", id / 4)}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::growth);
    CHECK(found.refused == 300);
    CHECK(to_text(found).starts_with("300 of 400 new series are refused, and no label has exploded"));
}

TEST_CASE("many tenants are a finding if they are new, and do not hide one that stands out") {
    hour now;
    series_samples seen;
    std::uint64_t number = 0;
    const auto put = [&](const std::string& tenant, time_point when) {
        seen.known().put(++number * 0x9E37'79B9'7F4A'7C15, std::vector<label_view>{{"__name__", "up"}}, tenant, when);
    };
    const auto find = [&] { return find_explosions(now.taken, now.refused, {}, seen.all()); };
    const auto start_all = [&](const char* metric) {
        for (std::uint64_t i = 0; i < 600; ++i) {
            const std::string tenant = numbered("t", i);
            now.note({{"__name__", metric}}, {.tenant = tenant});
            put(tenant, start);
        }
    };
    start_all("up");
    CHECK(find().empty());  // 600 series
    start_all("scrape_duration_seconds");
    REQUIRE(find().size() == 1);
    CHECK(find()[0].what == explosion::tenants);
    CHECK(is_near(find()[0].values.values, 600, 0.1));
    now.series_max = 1'200;
    for (std::uint64_t id = 0; id < 3'000; ++id)
        now.note({{"__name__", lettered(id % 4)}, {"a", numbered("x", id / 4 % 100)}, {"b", numbered("y", id / 400)}},
                 {.tenant = "shop"});
    const auto is_of_shop = [](const finding& each) { return each.what == explosion::growth && each.tenant == "shop"; };
    CHECK(find().size() == 2);
    CHECK(std::ranges::any_of(find(), is_of_shop));
    for (std::uint64_t i = 0; i < 400; ++i) put(numbered("t", i), start - std::chrono::hours{5});
    REQUIRE(find().size() == 1);
    CHECK(is_of_shop(find()[0]));
}

TEST_CASE("many new series without a culprit have none") {
    hour now;
    for (std::uint64_t id = 0; id < 40'000; ++id)
        now.note({{"__name__", numbered("metric_of_", 0) + std::string(1, static_cast<char>('a' + id % 20))},
                  {"instance", numbered("i", id / 20 % 100)},
                  {"path", numbered("/p", id / 2'000)}});
    CHECK(now.find().empty());
}

TEST_CASE("names that differ in numbers have one pattern") {
    CHECK(name_pattern("user_17_requests_total") == "user_#_requests_total");
    CHECK(name_pattern("session_0a1b2c3d4e5f_bytes") == "session_#_bytes");
    CHECK(name_pattern("a_550e8400-e29b-41d4-a716-446655440000_b") == "a_#-#-#-#-#_b");
    CHECK(name_pattern("job_550e8400_e29b_41d4_a716_446655440000_total") == "job_#_#_#_#_#_total");
    CHECK(name_pattern("latency_p95_e2e") == "latency_p#_e#e");
    CHECK(name_pattern("feedface_total") == "feedface_total");
    CHECK(name_pattern("http2_requests") == "http#_requests");
    CHECK(name_pattern("").empty());
}

TEST_CASE("a name has a pattern if it differs from it where it may") {
    CHECK(matches_pattern("user_17_total", "user_#_total"));
    CHECK_FALSE(matches_pattern("user_abc_total", "user_#_total"));
    CHECK(matches_pattern("shop_abcd_total", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop__total", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop_abcd_count", "shop_*_total"));
    CHECK_FALSE(matches_pattern("shop_total", "shop_*_total"));
}

TEST_CASE("names of which one pod's series have room and the other's have none are found, each once") {
    const bool has_digits = GENERATE(false, true);
    std::mt19937_64 random{7};
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        std::string word;
        for (int at = 0; at < 8; ++at) word += static_cast<char>('a' + random() % 26);
        names.push_back("shop_" + (has_digits ? std::to_string(i) : word) + "_total");
    }
    hour now;
    now.series_max = 1'000;
    for (const char* const pod : {"a", "b"})
        for (const std::string& name : names) now.note({{"__name__", name}, {"job", "web"}, {"instance", pod}});
    const finding found = now.find_one();
    CHECK(found.what == explosion::metric_names);
    CHECK(is_near(found.values.values, 1'000, 0.1));
    CHECK(is_near(found.series, 2'000, 0.1));
    CHECK(is_near(found.refused, 1'000, 0.1));
}

TEST_CASE("metrics with ids in their names are not laid to who sends everything else") {
    hour now;
    for (std::uint64_t id = 0; id < 20'000; ++id)
        now.note({{"__name__", "metric_of_" + std::string(1, static_cast<char>('a' + id % 20))},
                  {"instance", numbered("i", id / 20 % 100)},
                  {"path", numbered("/p", id / 2'000)}});
    for (std::uint64_t id = 0; id < 2'000; ++id)
        now.note({{"__name__", numbered("user_", id) + "_requests_total"}}, {.address = "10.0.0.9", .agent = "script"});
    const finding found = now.find_one();
    CHECK(found.what == explosion::metric_names);
    CHECK((found.sender.empty() || found.sender == "10.0.0.9"));
}

}  // namespace
}  // namespace seriesgate::testing::findings_test
