#include "limit/rule_selections.hpp"

#include "limit/budget.hpp"
#include "limit/figures.hpp"
#include "limit/labelled.hpp"
#include "limit/rules.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::rule_selections_test {
namespace {

compiled_rules rules_of(std::vector<label_limit> limits, std::vector<selector> exempt = {}) {
    return compiled_rules{limit_rules{.limits = std::move(limits), .exempt = std::move(exempt)}};
}

std::string key_of(const std::vector<std::string>& parts) {
    std::string key;
    for (const std::string& part : parts) append_key_part(key, part);
    return key;
}

}  // namespace

TEST_CASE("a series gets the limits that match it, with the keys of its groups") {
    const auto rules = rules_of({limit_named("", {"a"}, {}, "{a=~\"x.?z\",b!=\"\"}"), limit_named("", {}, {}),
                                 limit_named("", {"b", "none", "a"}, {}), limit_named("", {"a"}, {}, "{c=\"d\"}")},
                                {selecting("{c=\"exempt\"}")});
    rule_selections selections;
    const label_set first{{"a", "xyz"}, {"b", "1"}};
    const label_set second{{"a", "other"}, {"b", ""}, {"b", "2"}, {"c", "d"}};
    const label_set third{{"c", "exempt"}};
    for (const auto* labels : {&first, &second, &third, &first})
        CHECK(selections.append(rules, "t", views_of(*labels)));

    for (const std::size_t i : {0u, 3u}) {
        REQUIRE(selections[i].size() == 3);
        CHECK(selections[i].limit_index(0) == 0);
        CHECK(selections[i].key(0) == key_of({"xyz"}));
        CHECK(selections[i].key(1) == "");
        CHECK(selections[i].key(2) == key_of({"1", "", "xyz"}));
    }
    REQUIRE(selections[1].size() == 3);
    CHECK(selections[1].limit_index(0) == 1);
    CHECK(selections[1].key(1) == key_of({"2", "", "other"}));
    CHECK(selections[1].limit_index(2) == 3);
    CHECK(selections[2].exempt());
    REQUIRE(selections[2].size() == 1);
    CHECK(rules.is_exempt_limit(selections[2].limit_index(0)));
    CHECK(selections[2].key(0) == key_of({"t"}));
    const auto beyond = selections[2].without_exemption();
    CHECK_FALSE(beyond.exempt());
    REQUIRE(beyond.size() == 2);
    CHECK(beyond.limit_index(1) == 2);
}

TEST_CASE("a key that is too long is none, whatever makes it so") {
    auto rules = rules_of({limit_named("", {"a", "b"}, {})});
    rules.limits[0].per_tenant = GENERATE(false, true);
    const std::string tenant(100, 't');
    const std::size_t most = group_key_bytes_max - (rules.limits[0].per_tenant ? 101 : 0) - 2 - 3;
    rule_selections selections;
    for (const std::size_t size : {most, most + 1, std::size_t{60'000}}) {
        const label_set labels{{"a", std::string(size, 'x')}, {"b", "xx"}};
        CHECK(selections.append(rules, tenant, views_of(labels)));
    }
    REQUIRE(selections[0].key(0).has_value());
    CHECK(selections[0].key(0)->size() == group_key_bytes_max);
    CHECK_FALSE(selections[1].key(0).has_value());
    CHECK_FALSE(selections[2].key(0).has_value());
}

TEST_CASE("keys that are not of a limit name no group of it, and nothing breaks") {
    auto rules = rules_of({limit_named("", {"a", "b"}, {})});
    const label_limit& limit = rules.limits[0];
    CHECK(group_of(limit, "") == group_labels{{"a", ""}, {"b", ""}});
    CHECK(group_of(limit, key_of({"x"})) == group_labels{{"a", "x"}, {"b", ""}});
    CHECK(group_of(limit, key_of({"x", "y", "z"})) == group_labels{{"a", "x"}, {"b", "y"}});
    CHECK(group_of(limit, "\xff\xff") == group_labels{{"a", ""}, {"b", ""}});
}

TEST_CASE("a regular expression is matched once with the same value") {
    std::vector<label_limit> limits;
    for (int i = 0; i < 64; ++i) limits.push_back(limit_named("", {}, {}, "{a=~\"(x+y?)+\"}"));
    const auto rules = rules_of(limits);
    const std::string value(60'000, 'x');
    const std::vector<label_view> labels{{"a", value}};
    rule_selections selections;
    for (int i = 0; i < 10'000; ++i) REQUIRE(selections.append(rules, {}, labels));
    CHECK(selections[9'999].size() == 64);

    // Equal bytes elsewhere are compared if they are few, and read again if they are many.
    selections.clear();
    int series = 0;
    std::vector<std::string> copies(100, value);
    while (selections.append(rules, {}, std::vector<label_view>{{"a", copies.at(static_cast<std::size_t>(series))}}))
        ++series;
    CHECK(series == 31);
}

TEST_CASE("what the series of a request may ask for is bounded in work and in memory, and new with the next one") {
    std::vector<label_limit> limits(64, limit_named("", {"a"}, {}));
    const auto rules = rules_of(limits);
    rule_selections selections;
    const auto appended = [&](std::size_t value_bytes) {
        selections.clear();
        std::size_t count = 0;
        std::string value(value_bytes, 'x');
        do {
            value.replace(0, std::min<std::size_t>(value_bytes, 8), std::to_string(10'000'000 + count++));
        } while (selections.append(rules, {}, std::vector<label_view>{{"a", value}}));
        return count;
    };
    CHECK(appended(8) > 20'000);
    CHECK(appended(1'000) < 2'000);  // 72 MiB of keys
    CHECK(appended(8) > 20'000);
    CHECK(selections.append(rules, {}, {}) == false);
    selections.shrink();
    CHECK(selections.append(rules, {}, {}));
}

TEST_CASE("a limit for long values counts them in its overflow budget") {
    labelled_offering gate{{.incumbent_grace = 0s, .limits = {limit_named("by-a", {"a"}, {.hourly = 3})}}, at(10)};
    CHECK(gate.accepted({.labels = {{"a", std::string(2'000, 'x')}}, .count = 2}, at(10)) == 2);
    CHECK(gate.accepted({.labels = {{"a", std::string(60'000, 'y')}}, .count = 2}, at(10)) == 1);
    CHECK(gate.hourly(overflow_of("by-a")).series_current == 3);
    CHECK(figures_of(gate.limiter).limits.size() == 1);
}

TEST_CASE("markers that ask for too much stay unknown, and the rest is as ever") {
    labelled_offering gate{{.incumbent_grace = 0s,
                            .limits = {limit_named("", {}, {.hourly = 1})},
                            .exempt = {selecting("{a=~\"(x+y?)+\"}")},
                            .exempt_series_max = 0},
                           at(10)};
    const std::string value(60'000, 'x');
    batch sent{.labels = {{"a", value}}, .count = 10, .admits = false};
    CHECK(gate.accepted(sent, at(10)) == 10);  // exempt
    sent.count = 5'000;
    gate.prepare(sent);
    std::vector<std::string> copies(5'000, value);
    for (std::size_t i = 0; i < copies.size(); ++i) gate.labels.entries[i][0].value = copies[i];
    const auto verdicts = gate.decide(sent, at(10));
    CHECK(verdicts.accepted > 1'900);
    CHECK(verdicts.refused_unknown == 5'000 - verdicts.accepted);
}

}  // namespace seriesgate::testing::rule_selections_test
