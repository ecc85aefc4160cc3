#include "cardinality/remedy.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "limit/rules.hpp"
#include "series/selector.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::remedy_test {
namespace {

using std::chrono::minutes;
const time_point noon{std::chrono::hours{24 * 365 * 50 + 12}};
using label_texts = std::vector<std::pair<std::string, std::string>>;

/// What was sampled: healthy series from noon on, an explosion from 12:30 on.
struct samples {
    series_samples all;
    std::uint64_t number = 0;

    void put(const label_texts& texts, time_point when, std::string_view tenant, bool is_refused) {
        std::vector<label_view> labels;
        for (const auto& [name, value] : texts) labels.push_back({name, value});
        const std::uint64_t fingerprint = ++number * 0x9E37'79B9'7F4A'7C15;
        (is_refused ? all.refused() : all.known()).put(fingerprint, labels, tenant, when);
    }
    void healthy(const label_texts& texts, std::string_view tenant = {}) { put(texts, noon, tenant, false); }
    void exploding(const label_texts& texts, int at_minute = 30, std::string_view tenant = {}) {
        put(texts, noon + minutes{at_minute}, tenant, number % 2 == 0);
    }
};

/// 600 requests, each with an id of its own.
samples request_ids() {
    samples made;
    for (int i = 0; i < 50; ++i)
        made.healthy({{"__name__", "shop_requests_total"}, {"job", "shop"}, {"path", fmt::format("/p{}", i)}});
    for (int i = 0; i < 600; ++i)
        made.exploding({{"__name__", "shop_requests_total"},
                        {"job", "shop"},
                        {"path", fmt::format("/p{}", i % 50)},
                        {"request_id", fmt::format("{:08x}", static_cast<unsigned>(i) * 7'654'321)}},
                       30 + i / 60);
    return made;
}

std::string drop_rule(std::string_view labels, std::string_view regex) {
    return fmt::format("- source_labels: [{}]\n  regex: '{}'\n  action: drop\n", labels, regex);
}

finding about(std::string label, std::vector<std::string> metrics) {
    return {.label = label, .labels = {label}, .metrics = std::move(metrics), .series = 600};
}

TEST_CASE("what has the label is dropped, what has none stays") {
    samples seen = request_ids();
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), seen.all.all());
    CHECK(made.relabel == drop_rule("'__name__', 'job', 'request_id'", "shop_requests_total;shop;.+"));
    CHECK(made.limit ==
          "- name: 'shop_requests_total'\n"
          "  match: '{__name__=~\"shop_requests_total\",job=~\"shop\",request_id=~\".+\"}'\n"
          "  maxHourlySeries: 1000\n");
    CHECK(made.would_take == 0);
    CHECK(made.remembered == 50);
    CHECK(made.note == "tried on 50 of 50 series that are no part of it: takes none");
}

TEST_CASE("a label that healthy series have, too, is told by its values") {
    samples seen = request_ids();
    for (const char* const id : {"none", "batch", "health"})
        seen.healthy({{"__name__", "shop_requests_total"}, {"job", "shop"}, {"request_id", id}});
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), seen.all.all());
    CHECK(made.relabel.find("regex: 'shop_requests_total;shop;[0-9a-f]{8}'") != std::string::npos);
    CHECK(made.remembered == 53);
}

TEST_CASE("no rule is offered that takes what was there before") {
    samples seen = request_ids();
    seen.healthy({{"__name__", "shop_requests_total"}, {"job", "shop"}, {"request_id", "deadbeef"}});
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), seen.all.all());
    CHECK(made.relabel.empty());
    CHECK(made.would_take == 1);
    CHECK(made.note.find("would take 1 of 51 series that were known before") != std::string::npos);
    CHECK(made.note.find("deadbeef") != std::string::npos);
}

/// Ids in the path of a shop that has 40 paths.
samples ids_in_paths(std::string_view form) {
    samples made;
    for (int i = 0; i < 40; ++i)
        made.healthy({{"__name__", "shop_requests_total"}, {"job", "shop"}, {"path", fmt::format("/p{}", i)}});
    for (int i = 0; i < 600; ++i)
        made.exploding({{"__name__", "shop_requests_total"},
                        {"job", "shop"},
                        {"path", fmt::format(fmt::runtime(form), 7'919 * i)}},
                       30 + i / 60);
    return made;
}

TEST_CASE("of an explosion that is no longer in the samples no rule is made from what came after it") {
    const std::uint64_t weight = GENERATE(1u, 4u, 128u);
    CAPTURE(weight);
    samples seen;
    for (int i = 0; i < 100; ++i) seen.healthy({{"__name__", fmt::format("other{}", i)}, {"job", "other"}});
    const int rolled_out = static_cast<int>(300 / weight);
    for (int i = 0; i < rolled_out; ++i)  // what the program has that was rolled out to end it
        seen.put({{"__name__", "shop_requests_total"},
                  {"job", "shop"},
                  {"path", fmt::format("/p{}", i * 7 % 50)},
                  {"code", fmt::format("{}", i / 50)}},
                 noon + minutes{41}, {}, false);
    sampled all = seen.all.all();
    all.weight = weight;
    finding found = about("path", {"shop_requests_total"});
    found.series = found.values.values = 1'000;
    const remedy made = remedy_of(found, all);
    CHECK(made.relabel.empty());
    CHECK(made.limit.empty());
    CHECK(made.note == "too little of it is remembered, so no rule could be tried");
    CHECK_FALSE(split_samples(found, all).is_remembered);
}

TEST_CASE("where few of many healthy series are sampled, the narrowest rule goes first, and says what it may take") {
    samples seen = ids_in_paths("/user/{:08}");
    sampled all = seen.all.all();
    std::erase_if(all.known, [](const auto& each) { return value_of(*each, "path").starts_with("/p"); });
    for (int i = 0; i < 100; ++i)
        all.known.push_back(std::make_shared<sampled_series>(
            sampled_series{.fingerprint = static_cast<std::uint64_t>(i),
                           .labels = {{"__name__", fmt::format("other{}", i)}, {"job", "other"}},
                           .first_seen = noon}));
    all.weight = 128;
    const remedy made = remedy_of(about("path", {"shop_requests_total"}), all);
    CHECK(made.relabel.find("regex: 'shop_requests_total;shop;/user/[0-9]{8}'") != std::string::npos);
    CHECK(made.known == 12'800);
    CHECK(made.note ==
          "tried on 100 of about 12,800 series that are no part of it: takes none of these, and hardly more than 384 "
          "of the "
          "others");
}

TEST_CASE("a rule is not tried on a handful of what the gate knows") {
    samples seen = request_ids();
    sampled all = seen.all.all();
    all.admitted = 100'000;  // most of them by a warm start, or in a fleet by others
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), all);
    CHECK(made.known > 99'000);
    CHECK(made.note.find("tried on 50 of about 100,000 series") == 0);
    std::erase_if(all.known, [](const auto& each) { return value_of(*each, "request_id").empty(); });
    const remedy none = remedy_of(about("request_id", {"shop_requests_total"}), all);
    CHECK(none.relabel.empty());
    CHECK(none.limit.empty());
    CHECK(none.note ==
          "only 0 of about 99,700 series that are no part of it are known with their labels, so no rule can "
          "be tried");
}

TEST_CASE("where the explosion is most of the sample, the few others give a rule with its bound") {
    samples seen = request_ids();
    sampled all = seen.all.all();
    std::size_t healthy = 0;
    std::erase_if(all.known, [&](const auto& each) { return value_of(*each, "request_id").empty() && ++healthy > 12; });
    all.weight = 32;
    all.admitted = 10'100;
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), all);
    CHECK(made.relabel.find("[0-9a-f]{8}") != std::string::npos);
    CHECK_FALSE(made.limit.empty());
    CHECK(made.note ==
          "tried on 12 of about 380 series that are no part of it: takes none of these, and hardly more than 96 "
          "of the others");
}

TEST_CASE("values with line ends are told so that Prometheus 2 knows them, too") {
    const samples seen = ids_in_paths("SELECT *\nFROM t WHERE id = {:06} or more");
    const remedy made = remedy_of(about("path", {"shop_requests_total"}), seen.all.all());
    CHECK(made.limit.find("(?s:.+)") != std::string::npos);
}

TEST_CASE("what nobody can see of the values is no part of a rule") {
    samples seen = ids_in_paths("build-{:08}\r");
    CHECK(remedy_of(about("path", {"shop_requests_total"}), seen.all.all()).relabel.empty());
}

TEST_CASE("another job's series stay") {
    samples seen = request_ids();
    for (int i = 0; i < 40; ++i)
        seen.healthy({{"__name__", "shop_requests_total"}, {"job", "audit"}, {"request_id", fmt::format("{:08x}", i)}});
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), seen.all.all());
    CHECK_FALSE(made.relabel.empty());
    CHECK(made.would_take == 0);
}

TEST_CASE("a limit leaves room for what was there before") {
    samples seen = request_ids();
    for (int i = 0; i < 3'000; ++i)
        seen.healthy(
            {{"__name__", "shop_requests_total"}, {"job", "shop"}, {"request_id", fmt::format("order {}", i)}});
    const remedy made = remedy_of(about("request_id", {"shop_requests_total"}), seen.all.all());
    CHECK(made.limit.find("  maxHourlySeries: 6000\n") != std::string::npos);
}

TEST_CASE("one label of forty metrics is one rule that names all of them") {
    samples seen;
    std::vector<std::string> metrics;
    for (int m = 0; m < 40; ++m)
        metrics.push_back(fmt::format("http_{}_total", std::string(3, char('a' + m % 26)) + (m < 26 ? "" : "x")));
    for (std::size_t i = 0; i < 4'000; ++i)
        seen.exploding({{"__name__", metrics[i % 40]}, {"job", "web"}, {"session", fmt::format("s{:07}", i)}});
    const remedy made = remedy_of(about("session", metrics), seen.all.all());
    for (const std::string& metric : metrics) CHECK(made.relabel.find(metric) != std::string::npos);
    CHECK(made.relabel.find("source_labels: ['__name__', 'job', 'session']") != std::string::npos);
}

TEST_CASE("a label in too many metrics to name is dropped by label and job") {
    samples seen;
    for (int i = 0; i < 4'000; ++i)
        seen.exploding(
            {{"__name__", fmt::format("m{}", i % 400)}, {"job", "web"}, {"version", fmt::format("{:06}", i)}});
    const remedy made = remedy_of(about("version", {}), seen.all.all());
    CHECK(made.relabel == drop_rule("'job', 'version'", "web;.+"));
}

TEST_CASE("labels that tell targets or buckets apart have no rule, and a limit") {
    const auto label = GENERATE(as<std::string>{}, "instance", "job", "le", "quantile");
    CAPTURE(label);
    samples seen;
    for (int i = 0; i < 900; ++i) seen.healthy({{"__name__", "up"}, {"job", "a"}, {"instance", fmt::format("h{}", i)}});
    for (int i = 0; i < 1'500; ++i) {
        label_texts texts{{"__name__", "up"}};
        if (label != "job") texts.emplace_back("job", "a");
        texts.emplace_back(label, fmt::format("x{:06}", i));
        seen.exploding(texts);
    }
    const remedy made = remedy_of(about(label, {"up"}), seen.all.all());
    CHECK(made.relabel.empty());
    CHECK(made.note.find("would become one") != std::string::npos);
    CHECK((made.limit.find("  maxHourlySeries: 1800\n") != std::string::npos) ==
          (label == "instance" || label == "job"));
}

TEST_CASE("a histogram is dropped of the job that has too many buckets") {
    samples seen;
    for (int i = 0; i < 20; ++i)
        seen.healthy({{"__name__", "x_bucket"}, {"job", "good"}, {"le", fmt::format("{}", i)}});
    for (int i = 0; i < 80; ++i)
        seen.exploding({{"__name__", "x_bucket"}, {"job", "bad"}, {"le", fmt::format("0.{}", i)}});
    finding found = about("le", {"x_bucket"});
    found.what = explosion::buckets;
    CHECK(remedy_of(found, seen.all.all()).relabel == drop_rule("'__name__', 'job'", "x_bucket;bad"));
}

TEST_CASE("names are dropped as long and as spelled as they were seen") {
    samples seen;
    for (const char* const name : {"node_load1", "node_load5", "node_load15"})
        seen.healthy({{"__name__", name}, {"job", "node"}});
    for (int i = 1'000; i < 2'000; ++i) seen.exploding({{"__name__", fmt::format("node_load{}", i)}, {"job", "node"}});
    finding found = about("__name__", {"node_load#"});
    found.what = explosion::metric_names;
    const remedy made = remedy_of(found, seen.all.all());
    CHECK(made.relabel == drop_rule("'__name__', 'job'", "node_load[0-9]{4};node"));
    CHECK(made.would_take == 0);
}

TEST_CASE("every name is a string of YAML, whatever it looks like") {
    const auto label = GENERATE(as<std::string>{}, "null", "on", "true", "y", "client.address", "it's");
    CAPTURE(label);
    samples seen;
    for (int i = 0; i < 600; ++i) seen.exploding({{"__name__", "m"}, {"job", "1"}, {label, fmt::format("{:08x}", i)}});
    const remedy made = remedy_of(about(label, {"m"}), seen.all.all());
    std::string quoted = label == "it's" ? "it''s" : label;
    CHECK(made.relabel == drop_rule(fmt::format("'__name__', 'job', '{}'", quoted), "m;1;.+"));
    const bool needs_note = label == "client.address" || label == "it's";
    CHECK((made.note.find("Prometheus before 3.0") != std::string::npos) == needs_note);
}

TEST_CASE("what nobody can see is nothing to paste") {
    const auto name = GENERATE(as<std::string>{}, "a\u200bb", "a\u202eb", "a\U000e0041", "a\r\nb", "a\x80", "\u3164");
    samples as_metric, as_label;
    for (int i = 0; i < 600; ++i) {
        as_metric.exploding({{"__name__", name}, {"job", "a"}, {"id", fmt::format("{:08x}", i)}});
        as_label.exploding({{"__name__", "m"}, {"job", "a"}, {name, fmt::format("{:08x}", i)}});
    }
    const remedy of_label = remedy_of(about(name, {"m"}), as_label.all.all());
    CHECK(of_label.relabel.empty());
    CHECK(of_label.limit.empty());
    CHECK(of_label.note.find("cannot be pasted") != std::string::npos);
    const remedy of_metric = remedy_of(about("id", {name}), as_metric.all.all());
    CHECK(of_metric.relabel == drop_rule("'job', 'id'", "a;.+"));
    CHECK(of_metric.limit.find(name) == std::string::npos);
}

TEST_CASE("names that are no UTF-8 have no rule, and nothing of them comes to stderr") {
    const std::string head = "\xff\nlevel=error msg=forged err=user_";
    samples seen;
    for (int i = 0; i < 600; ++i) seen.exploding({{"__name__", head + std::to_string(i)}, {"job", "web"}});
    finding found = about("__name__", {name_pattern(head + "1")});
    found.what = explosion::metric_names;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> said{std::tmpfile(), &std::fclose};
    const int usual = ::dup(STDERR_FILENO);
    ::dup2(::fileno(said.get()), STDERR_FILENO);
    const remedy made = remedy_of(found, seen.all.all());
    ::dup2(usual, STDERR_FILENO);
    ::close(usual);
    CHECK(::lseek(::fileno(said.get()), 0, SEEK_END) == 0);
    CHECK((made.relabel.empty() && made.limit.empty()));
    CHECK(made.note.starts_with("its names cannot be pasted"));
}

TEST_CASE("a limit gets no name that the gate has for its own") {
    const auto label = GENERATE(as<std::string>{}, "tenant", "global", "exempt");
    samples seen;
    for (int i = 0; i < 4'000; ++i)
        seen.exploding({{"__name__", fmt::format("m{}", i % 400)}, {"job", "web"}, {label, fmt::format("{:06}", i)}});
    CHECK(remedy_of(about(label, {}), seen.all.all()).limit.starts_with(fmt::format("- name: 'per-{}'\n", label)));
}

TEST_CASE("a limit that is offered differs from those in force in its name, and in what it selects") {
    sampled all = request_ids().all.all();
    finding found = about("request_id", {"shop_requests_total"});
    const auto in_force = std::make_shared<limit_rules>();
    all.rules = in_force;
    in_force->limits = {{.name = "shop_requests_total"}, {.name = "shop_requests_total-2"}};
    CHECK(remedy_of(found, all).limit.starts_with("- name: 'shop_requests_total-3'\n"));
    const auto pasted = parse_selector(R"({request_id=~".+",job=~"shop",__name__=~"shop_requests_total"})");
    REQUIRE(pasted.has_value());
    in_force->limits[1].match = *pasted;
    const remedy made = remedy_of(found, all);
    CHECK(made.limit.empty());
    CHECK_FALSE(made.relabel.empty());
    CHECK(made.note.ends_with("; limit shop_requests_total-2 selects the same series already"));
}

TEST_CASE("of a tenant's limit it is said that it is for all, so that nobody pastes it for each") {
    samples seen;
    for (int i = 0; i < 1'000; ++i)
        seen.exploding({{"__name__", "m"}, {"job", "web"}, {"id", fmt::format("{:08x}", i)}}, 30, "shop");
    finding found = about("id", {"m"});
    found.tenant = "shop";
    const remedy made = remedy_of(found, seen.all.all());
    CHECK(made.limit.ends_with("  perTenant: true\n"));
    CHECK(made.note.ends_with("; paste the limit once: it is for every tenant"));
}

TEST_CASE("what is no explosion has no rule, and a sentence") {
    for (const explosion what : {explosion::tenants, explosion::targets, explosion::growth}) {
        const remedy made = remedy_of({.what = what}, {});
        CHECK(made.relabel.empty());
        CHECK_FALSE(made.note.empty());
    }
    CHECK_FALSE(remedy_of(about("id", {"m"}), {}).note.empty());
}

TEST_CASE("texts are spelled by their characters and lengths") {
    CHECK(characters_of({"12", "7", "999"}) == "[0-9]{1,3}");
    CHECK(characters_of({"0a", "ff"}) == "[0-9a-f]{2}");
    CHECK(characters_of({"a-B_9.z:/"}) == "[0-9a-fg-zA-F_.:/-]{9}");
    CHECK(characters_of({"\xc3\xa4"}).empty());
    CHECK(characters_of({"a b"}).empty());
}

TEST_CASE("what all begin and end with stands as it is, but for digits that will change, and few others tell nothing") {
    CHECK(spelling_of({"user-1234", "user-9876"}) == "user-[0-9]{4}");
    CHECK(spelling_of({"t00000123", "t00000999"}) == "t[0-9]{8}");
    CHECK(spelling_of({"/p/12345.html", "/p/99999.html"}) == "/p/[0-9]{5}\\.html");
    CHECK(spelling_of({"aaaa", "bbbbb"}) == "[a-f]{4,5}");
    CHECK(spelling_of({"v1", "v2"}).empty());
    CHECK(spelling_of({"", "abcd"}).empty());
}

}  // namespace
}  // namespace seriesgate::testing::remedy_test
