// The configuration that is made of a store's counts: it loads as it was meant, whatever the names are.
#include "suggest/first_config.hpp"

#include "config/loading.hpp"

namespace seriesgate::testing::first_config_test {
namespace {

using from_store::store_cardinality;
using from_store::value_count;

top::client_options prometheus() {
    top::client_options from{.url = "http://prometheus:9090"};
    REQUIRE(top::parse_gate_url(from.url, from.at).empty());
    return from;
}

store_cardinality store_with(std::vector<value_count> metrics, std::vector<value_count> pairs = {}) {
    return {.series = 1'000, .metrics = std::move(metrics), .pairs = std::move(pairs)};
}

config made_of(const store_cardinality& store, std::string_view label, const top::client_options& from = prometheus()) {
    return loaded(from_store::first_config(store, label, from), {});
}

}  // namespace

TEST_CASE("the first configuration is a whole file with comments that say where its numbers are from") {
    const auto store = store_with({{"m", 1'000}}, {{"namespace=shop", 700}, {"job=a", 500}, {"namespace=infra", 250}});
    CHECK(from_store::first_config(store, "namespace", prometheus()) ==
          R"(# Limits for what http://prometheus:9090 has, made by seriesgate suggest. They refuse nothing: see mode.
# An hour gets 1.5 times the series below, rounded up to two digits, at least 10; a day is not limited yet (0).
# Let it observe for some days; then /api/v1/suggestions knows the demand of hours and days (docs/limits.md).

# Where samples go. Another address if the store is written to elsewhere; Prometheus needs
# --web.enable-remote-write-receiver.
upstream:
  url: http://prometheus:9090/api/v1/write

mode: observe

# All series in the head, the last two to three hours: 1,000.
maxHourlySeries: 1500
maxDailySeries: 0

# By namespace, the largest; outliers have overrides, the limit goes by the largest of the others:
#             700  shop
#             250  infra
limits:
  - name: per-namespace
    match: '{namespace!=""}'
    each: [namespace]
    maxGroups: 10000
    maxHourlySeries: 380
    maxDailySeries: 0
    mode: enforce
    perTenant: false
    overrides: [{group: {namespace: shop}, maxHourlySeries: 1100, maxDailySeries: 0}]
)");
}

TEST_CASE("the limit goes by the largest group, unless it has more than twice the series of the next") {
    const auto limit = [](std::vector<value_count> metrics) {
        return made_of(store_with(std::move(metrics)), "__name__").rules.limits.at(0);
    };
    CHECK(limit({{"a", 100}, {"b", 60}, {"c", 40}}).maxima == series_maxima{.hourly = 150});
    CHECK(limit({{"a", 100}, {"b", 60}, {"c", 40}}).overrides.empty());
    CHECK(limit({{"a", 100}}).maxima.hourly == 150);
    const label_limit of_two = limit({{"a", 900}, {"b", 700}, {"c", 40}, {"d", 30}});
    CHECK(of_two.name == "per-metric");
    CHECK_FALSE(of_two.match.has_value());
    CHECK(of_two.maxima.hourly == 60);
    REQUIRE(of_two.overrides.size() == 2);
    CHECK(of_two.overrides[1] == group_override{.group = {{"__name__", "b"}}, .maxima = {.hourly = 1'100}});
    // A limit is at least 10, so the smallest groups differ by nothing.
    CHECK(limit({{"a", 6}, {"b", 1}}).overrides.empty());
    std::vector<value_count> steep;
    for (int i = 0; i < 9; ++i) steep.push_back({"m" + std::to_string(i), 1'000'000'000u >> (3 * i)});
    CHECK(limit(steep).overrides.size() == 5);
}

TEST_CASE("only a store that counts days tells how many series a day has") {
    auto store = store_with({{"m", 1'000}}, {{"job=a", 900}, {"job=b", 60}});
    CHECK(made_of(store, "job").rules.global == series_maxima{.hourly = 1'500});
    store.is_of_day = true;
    const limit_rules rules = made_of(store, "job").rules;
    CHECK(rules.global == series_maxima{.hourly = 1'500, .daily = 1'500});
    CHECK(rules.limits.at(0).maxima == series_maxima{.hourly = 90, .daily = 90});
    CHECK(rules.limits.at(0).overrides.at(0).maxima == series_maxima{.hourly = 1'400, .daily = 1'400});
}

TEST_CASE("there is room for every group of a label with many values") {
    auto store = store_with({{"m", 1'000}}, {{"pod=a", 3}});
    CHECK(made_of(store, "pod").rules.limits.at(0).groups_max == 10'000);
    store.value_counts["pod"] = 40'000;
    CHECK(made_of(store, "pod").rules.limits.at(0).groups_max == 60'000);
    store.value_counts["pod"] = 40'000'000;
    CHECK(made_of(store, "pod").rules.limits.at(0).groups_max == 10'000'000);
}

TEST_CASE("names of a store stay names") {
    for (const std::string odd :
         {"", "a: b", "null", "${HOME}", "it's", "a\nb: c\x1b[31m", "\\x41", "\u202e", "Zürich"}) {
        CAPTURE(odd);
        const auto by_value = made_of(store_with({{"m", 1}}, {{"job=" + odd, 500}, {"job=x", 10}}), "job");
        CHECK(by_value.rules.limits.at(0).overrides.at(0).group == group_labels{{"job", odd}});
        if (odd.empty()) continue;
        const auto by_label = made_of(store_with({{"m", 1}}, {{odd + "=x", 500}}), odd);
        CHECK(by_label.rules.limits.at(0).each == std::vector{odd});
        const std::vector<label_view> labels{{odd, "x"}};
        CHECK(by_label.rules.limits.at(0).match->matches(labels));
    }
}

TEST_CASE("samples go to the store that was asked, with the same credentials, and in the version that it knows") {
    const auto store = store_with({{"m", 1'000}});
    CHECK(made_of(store, "__name__").upstream.store.backends.at(0).authority == "prometheus:9090");
    CHECK(made_of(store, "__name__").upstream.protocol == upstream_protocol::passthrough);
    CHECK(made_of(store, "__name__").rules.mode == limit_mode::observe);

    auto victoria = store;
    victoria.is_of_day = true;
    top::client_options from = prometheus();
    REQUIRE(top::parse_gate_url("https://store/prefix/", from.at).empty());
    from.username = "ops: ${x}";
    from.password_file = "/etc/pass word";
    from.ca_file = "/etc/ca.pem";
    const std::string text = from_store::first_config(victoria, "__name__", from);
    CAPTURE(text);
    CHECK(text.find("upstream:\n"
                    "  url: https://store/prefix/api/v1/write\n"
                    "  protocol: v1\n"
                    "  basicAuth:\n"
                    "    username: 'ops: $${x}'\n"
                    "    passwordFile: '/etc/pass word'\n"
                    "  tls:\n"
                    "    caFile: /etc/ca.pem\n") != std::string::npos);
    CHECK(text.find("of the larger of today and yesterday (UTC): 1,000") != std::string::npos);
    from.any_server = true;
    from.username.clear();
    from.bearer_token_file = "/etc/token";
    CHECK(from_store::first_config(victoria, "__name__", from)
              .find("  bearerTokenFile: /etc/token\n  tls:\n    caFile: /etc/ca.pem\n") != std::string::npos);
}

}  // namespace seriesgate::testing::first_config_test
