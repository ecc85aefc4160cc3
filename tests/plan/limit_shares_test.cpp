// Which limit has refused what.
#include "plan/plan.hpp"

#include <tuple>

#include "limit/explain.hpp"
#include "limit/labelled.hpp"
#include "plan/planner.hpp"
#include "wire/wire_bytes.hpp"

namespace seriesgate::testing::limit_shares_test {
namespace {

constexpr time_point noon = at(12);

using shares = std::map<std::string, std::uint64_t>;

std::string entry_of(const std::string& job, const std::string& pod, std::uint64_t samples = 1) {
    std::string fields = label("__name__", "m") + label("job", job) + label("pod", pod);
    for (std::uint64_t i = 0; i < samples; ++i) fields += sample(1);
    return series({fields});
}

std::string marker_of(const std::string& pod) {
    return series({label("__name__", "m"), label("pod", pod), sample_bits(0x7ff0000000000002)});
}

label_limit limit_of(const std::string& name, const std::string& job, series_maxima maxima) {
    return limit_named(name, {}, maxima, "{job=\"" + job + "\"}");
}

struct gate {
    series_limiter limiter;
    planner planning{hash_key::known_to_all()};
    std::string body;

    explicit gate(const limit_rules& rules) : limiter(rules, noon) {}

    plan of(std::string sent, const std::string& tenant = "", time_point now = noon) {
        body = std::move(sent);
        const auto made = planning(body, limiter, now, tenant);
        REQUIRE(made.has_value());
        return *made;
    }
    shares by_name(std::span<const limit_share> all) const {
        shares named;
        for (const limit_share& each : all) named[limiter.limit_name(each.limit)] += each.samples;
        return named;
    }
};

}  // namespace

TEST_CASE("each limit has the samples that it has refused, also those that were refused before") {
    limit_rules rules{.global = {.hourly = 4}};
    rules.tenants.overrides["small"] = {.hourly = 1};
    rules.limits = {limit_of("by-a", "a", {.hourly = 1}), limit_of("by-b", "b", {.daily = 1})};
    gate gate{rules};
    const std::string sent = entry_of("a", "1") + entry_of("a", "2", 3) + entry_of("b", "1") + entry_of("b", "2", 5) +
                             entry_of("c", "1") + entry_of("c", "2") + entry_of("c", "3", 2);
    for (int again = 0; again < 3; ++again) {
        const plan made = gate.of(sent);
        CHECK(gate.by_name(made.refused_by) == shares{{"by-a", 3}, {"by-b", 5}, {"global", 2}});
        REQUIRE(made.refused_by.size() == 3);
        CHECK(made.refused_by[0].first.entry == 1);
        CHECK(slice(gate.body, made.refused_by[0].first.record) == entry_of("a", "2", 3));
        CHECK(made.refused_by[0].first.reason == verdict::refused_hourly);
        CHECK(made.refused_by[1].first.entry == 3);
        CHECK(slice(gate.body, made.refused_by[1].first.record) == entry_of("b", "2", 5));
        CHECK(made.refused_by[1].first.reason == verdict::refused_daily);
        CHECK(made.refused_by[2].first.entry == 6);
        CHECK(made.observed_by.empty());
    }
}

TEST_CASE("of several limits without room it is the first: global, tenant, limits in their order; the hour's first") {
    limit_rules rules{.global = {.daily = 1}};
    rules.tenants.fallback = {.hourly = 1};
    rules.limits = {limit_of("one", "a", {.hourly = 1}), limit_of("two", "a", {.hourly = 1})};
    gate gate{rules};
    CHECK(gate.by_name(gate.of(entry_of("a", "1") + entry_of("a", "2")).refused_by) == shares{{"tenant", 1}});
    CHECK(gate.by_name(gate.of(entry_of("b", "1"), "other").refused_by) == shares{{"global", 1}});
}

TEST_CASE("what a limit is called stays with it over a reload") {
    limit_rules rules;
    rules.limits = {limit_of("by-a", "a", {.hourly = 1}), limit_of("by-b", "b", {.hourly = 1})};
    gate gate{rules};
    const std::string sent = entry_of("a", "1") + entry_of("a", "2") + entry_of("b", "1") + entry_of("b", "2");
    const plan before = gate.of(sent);
    const limit_number a = before.refused_by[0].limit;
    const limit_number b = before.refused_by[1].limit;
    rules.limits = {limit_of("new", "a", {.hourly = 1}), limit_of("by-b", "b", {.hourly = 1})};
    gate.limiter.reconfigure(rules);
    CHECK(gate.by_name(gate.of(sent + entry_of("a", "3")).refused_by) == shares{{"new", 1}, {"by-b", 1}});
    CHECK(gate.limiter.limit_name(a) == "by-a");
    CHECK(gate.limiter.limit_name(b) == "by-b");
    std::swap(rules.limits[0], rules.limits[1]);
    gate.limiter.reconfigure(rules);
    CHECK(gate.of(entry_of("b", "2")).refused_by[0].limit == b);
}

TEST_CASE("the budget in which a limit counts a series is found, whether it has room or not") {
    limit_rules rules{.global = {.hourly = 9}};
    rules.tenants.fallback = {.daily = 7};
    rules.limits = {limit_of("by-a", "a", {.hourly = 2})};
    rules.limits[0].each = {"job"};
    gate gate{rules};
    const plan made = gate.of(entry_of("a", "1") + entry_of("a", "2") + entry_of("a", "3"), "t");
    REQUIRE(made.refused_by.size() == 1);
    const limit_number a = made.refused_by[0].limit;
    const auto budget = [&](limit_number of) { return budget_of(gate.limiter, of, gate.planning.labels(0), "t"); };
    const auto counted = [](const std::optional<budget_figures>& of) {
        REQUIRE(of);
        return std::tuple{of->name.limit, of->name.tenant, of->hourly.series_current, of->hourly.series_max,
                          of->daily.series_max};
    };
    CHECK(counted(budget(a)) == std::tuple{"by-a", "", 2, 2, 0});
    CHECK(budget(a)->name.group == group_labels{{"job", "a"}});
    CHECK(counted(budget(tenant_limit)) == std::tuple{"", "t", 2, 0, 7});
    CHECK(counted(budget(global_limit)) == std::tuple{"", "", 2, 9, 0});
    CHECK_FALSE(budget(unknown_limit));
    const auto of_nobody = budget_of(gate.limiter, tenant_limit, gate.planning.labels(0), "nobody");  // yet
    CHECK(counted(of_nobody) == std::tuple{"", "nobody", 0, 0, 7});
    rules.limits.clear();
    gate.limiter.reconfigure(rules);
    CHECK_FALSE(budget(a));
}

TEST_CASE("what passes while a store is read is counted, and nothing of it refused, also across a full hour") {
    for (const set_kind kind : {set_kind::bloom, set_kind::exact}) {
        series_limiter limiter{
            {.global = {.hourly = 2, .daily = 2}}, noon, hash_key::known_to_all(), limit_scope::gate, kind};
        planner planning{hash_key::known_to_all()};
        const std::string sent = entry_of("a", "1") + entry_of("a", "2") + entry_of("a", "3");
        REQUIRE(planning.read(sent, "", protocol::v1).code == wire_errc::none);
        REQUIRE(planning.decide(limiter, noon, "", true).has_value());
        const time_point next_hour = noon + 1h;
        REQUIRE(planning.read(sent, "", protocol::v1).code == wire_errc::none);
        CHECK(planning.pass(limiter, next_hour, "").refused_by.empty());
        CHECK(figures_of(limiter).hourly.series_current == 3);
        CHECK(figures_of(limiter).hourly.series_refused == 0);
        CHECK(figures_of(limiter).daily.series_current == 3);
    }
}

TEST_CASE("limits beyond a thousand names share one") {
    limit_names names;
    for (std::size_t i = own_limit_names.size(); i < limit_numbers_max; ++i)
        CHECK(names.numbers_of({{.name = std::to_string(i)}}) == std::vector{static_cast<limit_number>(i)});
    CHECK(names.numbers_of({{.name = "one more"}, {.name = "7"}, {.name = "another"}, {.name = "global"}}) ==
          std::vector<limit_number>{other_limit, 7, other_limit, global_limit});
    CHECK(names.name_of(other_limit) == "__other__");
}

TEST_CASE("limits that observe have what they would have refused, once") {
    limit_rules rules{.global = {.hourly = 2}, .mode = limit_mode::observe};
    gate gate{rules};
    const std::string sent = entry_of("a", "1") + entry_of("a", "2") + entry_of("a", "3", 4) + entry_of("a", "4");
    const plan made = gate.of(sent);
    CHECK(made.refused_by.empty());
    CHECK(made.forward == body_action::unchanged);
    REQUIRE(made.observed_by.size() == 1);
    CHECK(gate.by_name(made.observed_by) == shares{{"global", 5}});
    CHECK(made.observed_by[0].first.entry == 2);
    CHECK(made.observed_by[0].first.reason == verdict::refused_hourly);
    CHECK(gate.of(sent).observed_by.empty());  // known by now
}

TEST_CASE("a tenant's limit observes by its mode, and a limit by its own") {
    limit_rules rules;
    rules.tenants.mode = limit_mode::observe;
    rules.tenants.fallback = {.daily = 1};
    rules.limits = {limit_of("tried", "a", {.hourly = 1}), limit_of("strict", "b", {.hourly = 1})};
    rules.limits[0].mode = limit_mode::observe;
    gate gate{rules};
    const plan made = gate.of(entry_of("b", "1") + entry_of("b", "2") + entry_of("c", "1") + entry_of("c", "2"), "t");
    CHECK(gate.by_name(made.refused_by) == shares{{"strict", 1}});
    CHECK(gate.by_name(made.observed_by) == shares{{"tenant", 2}});
    CHECK(made.observed_by[0].first.reason == verdict::refused_daily);
}

TEST_CASE("every limit that observes and has no room would have refused") {
    limit_rules rules{.global = {.daily = 2}};
    rules.tenants.mode = limit_mode::observe;
    rules.tenants.fallback = {.daily = 1};
    rules.limits = {limit_of("tried", "a", {.hourly = 1}), limit_of("roomy", "a", {.hourly = 2})};
    for (label_limit& each : rules.limits) each.mode = limit_mode::observe;
    gate gate{rules};
    const plan made = gate.of(entry_of("a", "1") + entry_of("a", "2", 3) + entry_of("a", "3"), "t");
    CHECK(gate.by_name(made.observed_by) == shares{{"tenant", 3}, {"tried", 3}});
    CHECK(gate.by_name(made.refused_by) == shares{{"global", 1}});  // what is refused is not counted as well
}

TEST_CASE("all that is refused adds up, whatever is sent and whatever the limits are") {
    random_numbers random{7};
    for (int scene = 0; scene < 40; ++scene) {
        const auto some_maxima = [&] { return series_maxima{.hourly = random.below(20), .daily = random.below(30)}; };
        const auto some_rules = [&] {
            limit_rules rules{.global = some_maxima(), .whole_histograms = random.one_in(2)};
            rules.tenants.fallback = some_maxima();
            for (const char* job : {"a", "b"})
                if (!random.one_in(3)) rules.limits.push_back(limit_of(job, job, some_maxima()));
            for (label_limit& each : rules.limits)
                if (random.one_in(3)) each.mode = limit_mode::observe;
            return rules;
        };
        gate gate{some_rules()};
        time_point now = noon;
        for (int request = 0; request < 60; ++request) {
            if (random.one_in(10)) gate.limiter.reconfigure(some_rules());
            if (random.one_in(20)) now += 40min;
            std::string body;
            for (std::uint64_t i = 0; i < 15; ++i) {
                const std::string pod = std::to_string(random.below(60));
                if (random.one_in(8)) {
                    body += marker_of(pod);
                } else if (random.one_in(4)) {
                    body += series({label("__name__", "h_bucket"), label("job", "a"), label("le", "1"),
                                    label("pod", pod), sample(1)});
                } else {
                    body += entry_of(random.one_in(2) ? "a" : "b", pod, 1 + random.below(3));
                }
            }
            const plan made = gate.of(body, random.one_in(2) ? "x" : "y", now);
            std::uint64_t sum = made.refused_unknown_samples;
            for (const auto& [name, samples] : gate.by_name(made.refused_by)) sum += samples;
            REQUIRE(sum == made.refused.samples);
            for (const limit_share& each : made.observed_by)
                REQUIRE(is_accepted(gate.planning.verdict_of(each.first.entry)));
            for (const limit_share& each : made.refused_by)
                REQUIRE(is_refused(gate.planning.verdict_of(each.first.entry)));
        }
    }
}

}  // namespace seriesgate::testing::limit_shares_test
