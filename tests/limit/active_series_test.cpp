// maxActiveSeries: random requests, reloads and restarts beside an exact oracle, and what markers, clocks and memory
// do.
#include "limit/active_series.hpp"

#include <atomic>
#include <thread>
#include <unordered_map>

#include "limit/explain.hpp"
#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

std::uint64_t minute_at(time_point now) {
    return minute_of(std::chrono::floor<std::chrono::seconds>(now));
}

constexpr std::size_t group_count = 4, tenant_count = 2;

label_set labels_of(std::uint64_t series) {
    return {{"__name__", "m"}, {"g", std::to_string(series % group_count)}, {"n", std::to_string(series)}};
}

/// Budgets by name; what one admits is looked up in lists of all that happened.
class oracle {
    struct budget {
        std::set<std::uint64_t> active;
        std::vector<std::uint64_t> newcomers;  ///< minutes
    };
    struct known_series {
        std::uint64_t seen = 0;
        bool is_outdated = false;
        std::vector<std::string> budgets;  ///< empty: not active
    };

  public:
    limit_rules rules;

    oracle(limit_rules of, time_point now)
        : rules(std::move(of)), hour_(hour_of(now)), watched_since_(minute_at(now)) {}

    std::vector<verdict> decide(const std::vector<std::uint64_t>& numbers, std::span<const offered_series> offered,
                                time_point now, const std::string& tenant) {
        roll_over(now);
        std::vector<verdict> verdicts(offered.size(), verdict::known);
        std::vector<std::size_t> pending, followers, ended;
        for (std::size_t i = 0; i < offered.size(); ++i) {
            const auto one = offered[i].fingerprint;
            const auto found = known_.find(one);
            const bool is_active = found != known_.end() && !found->second.budgets.empty();
            if (!offered[i].admits) {
                if (offered[i].samples != 0 && (is_active || hour_has_.contains(one))) ended.push_back(i);
                if (!hour_has_.contains(one)) followers.push_back(i);
            } else if (hour_has_.contains(one) && is_active && !found->second.is_outdated) {
                found->second.seen = minute_at(now);
            } else if (const auto refused = refused_.find(one); refused != refused_.end()) {
                verdicts[i] = refused->second;
            } else {
                pending.push_back(i);
            }
        }
        for (const std::size_t i : pending) verdicts[i] = admit(numbers[i], offered[i].fingerprint, now, tenant);
        for (const std::size_t i : followers) {
            const auto one = offered[i].fingerprint;
            const bool knows = hour_has_.contains(one) || day_has_.contains(one) || before_has_.contains(one);
            const bool is_limited = refused_.contains(one) || limits_any(numbers[i], tenant);
            verdicts[i] = knows || !is_limited ? verdict::known : verdict::unknown;
            if (knows && offered[i].samples != 0) end_activity(one);
        }
        for (const std::size_t i : ended) end_activity(offered[i].fingerprint);
        return verdicts;
    }

    void maintain(time_point now) {
        roll_over(now);
        const std::uint64_t minute = minute_at(now);
        const auto window = static_cast<std::uint64_t>(rules.active_window.count());
        if (minute != swept_ || outdates_) {
            swept_ = minute;
            for (auto& [name, from] : newcomers_from_) from = std::min(from, minute + window + 1);
            freed_ = true;
            for (auto& [one, known] : known_) {
                if (known.budgets.empty()) continue;
                if (minute > watched_since_ + window && known.seen + window < minute)
                    end_activity(one);
                else
                    known.is_outdated |= outdates_;
            }
            outdates_ = false;
        }
        if (!freed_ || !refused_active_) return;
        if (now < forgotten_ + 1s) return;
        freed_ = refused_active_ = false;
        forgotten_ = now;
        refused_.clear();
    }

    /// @param changed names of budgets that count other series by it.
    void reload(limit_rules to, const std::set<std::string>& changed) {
        if (to.active_window != rules.active_window)
            for (auto& [name, of] : budgets_) of.newcomers.clear();
        rules = std::move(to);
        refused_.clear();
        for (const std::string& each : changed) newcomers_from_[each] = never;
        if (!changed.empty()) outdates_ = true;
    }

    void restart(time_point now) {
        refused_.clear();
        for (auto& [one, known] : known_) known.is_outdated = !known.budgets.empty();
        watched_since_ = minute_at(now);
        swept_ = 0;
        freed_ = refused_active_ = false;
        forgotten_ = {};
        outdates_ = false;
    }

    [[nodiscard]] std::uint64_t active_in(const std::string& name) const {
        const auto found = budgets_.find(name);
        return found == budgets_.end() ? 0 : found->second.active.size();
    }
    [[nodiscard]] std::uint64_t newcomers() const { return newcomers_; }
    [[nodiscard]] std::uint64_t returns() const { return returns_; }

    std::vector<std::string> budgets_of(std::uint64_t number, const std::string& tenant) const {
        std::vector<std::string> names{"global", "tenant " + tenant};
        for (const label_limit& limit : rules.limits) {
            const auto labels = labels_of(number);
            if (!limit.match || limit.match->matches(views_of(labels)))
                names.push_back(limit.name + " " + (limit.each.empty() ? "" : std::to_string(number % group_count)));
        }
        return names;
    }

  private:
    static constexpr std::uint64_t never = std::uint64_t{1} << 60;

    [[nodiscard]] std::uint64_t max_of(const std::string& name) const {
        if (name == "global") return rules.global.active;
        if (name.starts_with("tenant ")) return rules.tenants.fallback.active;
        for (const label_limit& limit : rules.limits)
            if (name.starts_with(limit.name + " ")) return limit.maxima.active;
        return 0;
    }
    [[nodiscard]] bool enforces(const std::string& name) const {
        for (const label_limit& limit : rules.limits)
            if (name.starts_with(limit.name + " ")) return limit.mode == limit_mode::enforce;
        return true;
    }
    [[nodiscard]] bool limits_any(std::uint64_t number, const std::string& tenant) const {
        for (const std::string& each : budgets_of(number, tenant))
            if (max_of(each) != 0 && enforces(each)) return true;
        return false;
    }
    [[nodiscard]] bool has_room(const std::string& name, std::uint64_t minute) {
        const std::uint64_t max = max_of(name);
        if (max == 0 || !enforces(name)) return true;
        const std::string limit = name.substr(0, name.find(' '));
        if (const auto from = newcomers_from_.find(limit); from != newcomers_from_.end() && minute < from->second)
            return false;
        const budget& of = budgets_[name];
        const auto window = static_cast<std::uint64_t>(rules.active_window.count());
        const std::uint64_t part = std::max<std::uint64_t>(1, (window + 9) / 10);
        const std::uint64_t parts = (window + part - 1) / part;
        const auto recent = std::ranges::count_if(
            of.newcomers, [&](std::uint64_t each) { return each / part + parts >= minute / part; });
        return of.active.size() < max && static_cast<std::uint64_t>(recent) < 2 * max;
    }

    verdict admit(std::uint64_t number, std::uint64_t one, time_point now, const std::string& tenant) {
        const std::uint64_t minute = minute_at(now);
        known_series& known = known_[one];
        const bool is_active = !known.budgets.empty();
        const bool in_hour = hour_has_.contains(one);
        const auto budgets = budgets_of(number, tenant);
        if (in_hour && is_active && !known.is_outdated) {
            known.seen = std::max(known.seen, minute);
            return verdict::known;
        }
        if (!in_hour && !is_active) {
            for (const std::string& each : budgets)
                if (!has_room(each, minute)) {
                    refused_active_ = true;
                    return refused_[one] = verdict::refused_active;
                }
            for (const std::string& each : budgets) budgets_[each].newcomers.push_back(minute);
            ++newcomers_;
        } else if (!is_active) {
            ++returns_;
        }
        end_activity(one, false);
        known.seen = minute;
        known.is_outdated = false;
        known.budgets = budgets;
        for (const std::string& each : budgets) budgets_[each].active.insert(one);
        day_has_.insert(one);
        return hour_has_.insert(one).second ? verdict::admitted : verdict::known;
    }

    void end_activity(std::uint64_t one, bool frees = true) {
        known_series& known = known_[one];
        for (const std::string& each : known.budgets) budgets_[each].active.erase(one);
        if (frees && !known.budgets.empty()) freed_ = true;
        known.budgets.clear();
        known.is_outdated = false;
    }

    void roll_over(time_point now) {
        if (hour_of(now) == hour_) return;
        if (day_of(now) != day_of(hour_.start)) day_has_.clear();
        hour_ = hour_of(now);
        before_has_ = std::exchange(hour_has_, {});
        refused_.clear();
    }

    window_span hour_;
    std::set<std::uint64_t> hour_has_, day_has_, before_has_;
    std::unordered_map<std::uint64_t, known_series> known_;
    std::map<std::string, budget> budgets_;
    std::map<std::string, std::uint64_t> newcomers_from_;  ///< by name of a limit
    std::unordered_map<std::uint64_t, verdict> refused_;
    std::uint64_t watched_since_, swept_ = 0;
    std::uint64_t newcomers_ = 0, returns_ = 0;
    bool outdates_ = false, freed_ = false, refused_active_ = false;
    time_point forgotten_{};
};

limit_rules some_rules(random_numbers& random) {
    limit_rules made;
    made.active_window = std::chrono::minutes{std::array{1, 5, 10, 15, 60, 120}[random.below(6)]};
    made.global.active = random.one_in(2) ? 0 : 100 + random.below(200);
    made.tenants.fallback.active = random.one_in(2) ? 0 : 60 + random.below(150);
    made.limits.push_back(limit_named("groups", {"g"}, {.active = random.one_in(3) ? 0 : 20 + random.below(60)}));
    made.limits.push_back(limit_named("some", {}, {.active = 30 + random.below(60)}, R"({g="1"})"));
    made.limits.back().mode = random.one_in(2) ? limit_mode::observe : limit_mode::enforce;
    return made;
}

class active_life {
    random_numbers random_;
    limit_rules rules_{some_rules(random_)};
    time_point now_ = at(static_cast<int>(random_.below(24)));
    std::unique_ptr<series_limiter> gate_ = make_gate();
    oracle oracle_{rules_, now_};
    lookup_result scratch_;

  public:
    explicit active_life(std::uint64_t seed) : random_(seed) {}

    std::uint64_t steps = 0;
    std::uint64_t refused = 0;
    [[nodiscard]] const oracle& expected() const { return oracle_; }

    void step() {
        const auto passed = random_.one_in(40) ? 1min * random_.below(60) : 1s * (1 + random_.below(30));
        now_ += passed;
        gate_->maintain(now_);
        oracle_.maintain(now_);
        if (random_.one_in(200)) reload();
        if (random_.one_in(300)) restart();
        offer();
        if (random_.one_in(5)) compare();
    }

  private:
    [[nodiscard]] std::unique_ptr<series_limiter> make_gate() const {
        return std::make_unique<series_limiter>(rules_, now_, hash_key::known_to_all(), limit_scope::gate,
                                                set_kind::exact);
    }
    void offer() {
        const std::string tenant = std::to_string(random_.below(tenant_count));
        std::vector<std::uint64_t> numbers;
        std::vector<offered_series> offered;
        std::vector<label_set> labels;
        shown_labels shown;
        shown.tenant = tenant;
        const std::uint64_t wave = minute_at(now_) / 20;
        for (std::uint64_t i = random_.below(40) + 1; i > 0; --i) {
            // Old series come again, those of this wave are new, and some explode.
            const std::uint64_t number = random_.one_in(30)  ? random_.below(1'000'000)
                                         : random_.one_in(3) ? random_.below(150)
                                                             : 1'000 + wave * 50 + random_.below(120);
            numbers.push_back(number);
            offered.push_back({.fingerprint = fingerprint_of(number * tenant_count + (tenant == "0" ? 0 : 1)),
                               .samples = static_cast<std::uint32_t>(random_.below(3)),
                               .admits = !random_.one_in(8)});
            labels.push_back(labels_of(number));
        }
        for (const label_set& each : labels) shown.entries.push_back(views_of(each));
        std::vector<verdict> verdicts(offered.size(), verdict::unknown);
        gate_->decide(offered, now_, verdicts, scratch_, {.tenant = tenant, .labels = &shown});
        const auto expected = oracle_.decide(numbers, offered, now_, tenant);
        for (std::size_t i = 0; i < offered.size(); ++i) {
            CAPTURE(i, numbers[i], tenant, offered[i].admits, now_.time_since_epoch().count());
            REQUIRE(static_cast<int>(verdicts[i]) == static_cast<int>(expected[i]));
            refused += is_refused(expected[i]) ? 1 : 0;
        }
        steps += offered.size();
    }
    void reload() {
        std::set<std::string> changed;
        limit_rules made = some_rules(random_);
        if (random_.one_in(2)) made.active_window = rules_.active_window;
        if (random_.one_in(2)) {
            made.limits[1].match = selecting(random_.one_in(2) ? R"({g="1"})" : R"({g=~"1|2"})");
            if (made.limits[1].match != rules_.limits[1].match) changed.insert("some");
        } else {
            made.limits[1].match = rules_.limits[1].match;
        }
        if (made.active_window != rules_.active_window) changed = {"global", "tenant", "groups", "some"};
        rules_ = made;
        gate_->reconfigure(rules_);
        oracle_.reload(rules_, changed);
        gate_->maintain(now_);
        oracle_.maintain(now_);
        compare();
    }
    void restart() {
        const std::string bytes = saved(*gate_);
        REQUIRE(!bytes.empty());
        gate_ = make_gate();
        REQUIRE(restored(*gate_, bytes, now_));
        oracle_.restart(now_);
        compare();
        gate_->maintain(now_);
        oracle_.maintain(now_);
    }
    void compare() {
        const limiter_figures shown = figures_of(*gate_);
        REQUIRE(shown.active.has_value());
        CAPTURE(now_.time_since_epoch().count());
        REQUIRE(shown.active->series_current == oracle_.active_in("global"));
        for (const budget_figures& each : shown.tenants)
            REQUIRE(each.active->series_current == oracle_.active_in("tenant " + each.name.tenant));
        for (const budget_figures& each : shown.limits) {
            const std::string group = each.name.group.empty() ? "" : each.name.group.front().second;
            REQUIRE(each.active->series_current == oracle_.active_in(each.name.limit + " " + group));
        }
    }
};

}  // namespace

TEST_CASE("active series are counted and admitted as an exact oracle does", "[both]") {
    std::uint64_t steps = 0, refused = 0, newcomers = 0, returns = 0;
    for (std::uint64_t seed = 0; steps < (sanitized ? 25'000u : 1'000'000u); ++seed) {
        CAPTURE(seed);
        active_life one{seed};
        while (one.steps < 40'000) one.step();
        steps += one.steps;
        refused += one.refused;
        newcomers += one.expected().newcomers();
        returns += one.expected().returns();
    }
    CAPTURE(steps, refused, newcomers, returns);
    CHECK(refused > steps / 20);
    CHECK(newcomers > steps / 50);
    CHECK(returns > steps / 500);
}

namespace {

/// A gate with tables, without labels.
struct active_gate : offering {
    active_gate(const limit_rules& rules, time_point now) : offering{rules, now, set_kind::exact} {}
};

}  // namespace

TEST_CASE("no series is idle in the first activeWindow after a leap of the clock") {
    active_gate gate{{.global = {.active = 100}}, at(10)};
    CHECK(gate.accepted(series(0, 100), at(10)) == 100);
    leap(gate.limiter, at(15));
    gate.limiter.maintain(at(15, 15));
    CHECK(gate.active() == 100);
    CHECK(gate.accepted(series(50, 100), at(15, 15)) == 50);
    gate.limiter.maintain(at(15, 16));
    CHECK(gate.active() == 50);
}

TEST_CASE("the peak of steady series is their number in every hour, and after a reload") {
    limit_rules rules{.global = {.active = 100}};
    active_gate gate{rules, at(10)};
    const auto peak = [&gate] { return figures_of(gate.limiter).global.active_peak; };
    CHECK(gate.accepted(series(0, 10), at(10, 58)) == 10);
    CHECK(peak() == 10);
    CHECK(gate.accepted(series(0, 10), at(11)) == 10);
    CHECK(peak() == 10);
    rules.global.active = 90;
    gate.limiter.reconfigure(rules);
    CHECK(gate.accepted(series(0, 10), at(11, 1)) == 10);
    CHECK(peak() == 10);
    CHECK(gate.active() == 10);
}

TEST_CASE("a limit of active series that only observes refuses nothing, also before it knows its series") {
    limit_rules rules;
    labelled_offering gate{rules, at(10), set_kind::exact};
    CHECK(gate.accepted({.tenant = "old", .labels = {{"g", "a"}}}, at(10)) == 1);
    SECTION("added by a reload") {
        rules.limits = {limit_named("tries", {"g"}, {.active = 100})};
        rules.limits[0].mode = limit_mode::observe;
        gate.limiter.reconfigure(rules);
        CHECK(gate.accepted({.labels = {{"g", "b"}}, .first = 10, .count = 3}, at(10, 1)) == 3);
        rules.limits[0].mode = limit_mode::enforce;
        gate.limiter.reconfigure(rules);
        CHECK(gate.accepted({.labels = {{"g", "c"}}, .first = 20, .count = 3}, at(10, 2)) == 0);
    }
    SECTION("of tenants, after another activeWindow") {
        rules.mode = limit_mode::observe;
        rules.tenants.fallback.active = 100;
        rules.active_window = 20min;
        gate.limiter.reconfigure(rules);
        CHECK(gate.accepted({.tenant = "new", .labels = {{"g", "b"}}, .first = 10, .count = 3}, at(10, 1)) == 3);
    }
    SECTION("after a restart from filters") {
        labelled_offering filters{{}, at(10)};
        filters.offer({.labels = {{"g", "a"}}}, at(10));
        rules.mode = limit_mode::observe;
        rules.tenants.fallback.active = 100;
        restarted<labelled_offering> again{rules, saved(filters.limiter), at(10, 1), set_kind::exact};
        CHECK(again.accepted({.tenant = "new", .labels = {{"g", "b"}}, .first = 10, .count = 3}, at(10, 2)) == 3);
    }
}

TEST_CASE("a marker beside a sample of a series that was idle in this hour ends it") {
    active_gate gate{{.global = {.active = 10}}, at(10)};
    CHECK(gate.accepted(series(0, 10), at(10)) == 10);
    CHECK(gate.accepted(stale_markers(0, 10), at(10, 1)) == 10);
    REQUIRE(gate.active() == 0);
    auto offered = joined(series(0, 10), stale_markers(0, 10));
    if (GENERATE(false, true)) std::ranges::reverse(offered);
    CHECK(gate.accepted(offered, at(10, 20)) == 20);
    CHECK(gate.active() == 0);
    CHECK(gate.accepted(series(100, 10), at(10, 21)) == 10);
}

TEST_CASE("a request that needs too much frees no slot") {
    limit_rules rules{.global = {.active = 100}};
    for (int i = 0; i < 64; ++i) rules.limits.push_back(limit_named("l" + std::to_string(i), {"a"}, {}));
    active_gate gate{rules, at(10)};
    CHECK(gate.accepted(series(0, 10), at(10)) == 10);
    // Keys of new series, in so many limits, take more memory than a request may have.
    const auto offered = joined(stale_markers(0, 10), series(100, 10'000));
    const label_set labels{{"a", std::string(1'000, 'x')}};
    const label_set others{{"a", std::string(1'000, 'y')}};
    shown_labels shown;
    for (std::size_t i = 0; i < offered.size(); ++i) shown.entries.push_back(views_of(i % 2 == 0 ? labels : others));
    std::vector<verdict> verdicts(offered.size(), verdict::unknown);
    REQUIRE_FALSE(gate.limiter.decide(offered, at(10), verdicts, gate.scratch, {.tenant = "", .labels = &shown}));
    CHECK(gate.active() == 10);
    CHECK(gate.accepted(stale_markers(0, 10), at(10)) == 10);
    CHECK(gate.active() == 0);
}

TEST_CASE("a clock that goes back by hours begins the counts anew") {
    active_gate gate{{.global = {.active = 100}}, at(10)};
    CHECK(gate.accepted(series(0, 200), at(10)) == 100);
    leap(gate.limiter, at(5));
    CHECK(gate.active() == 0);
    CHECK(gate.accepted(series(100, 150), at(5, 6)) == 100);
    CHECK(gate.active() == 100);
}

TEST_CASE("a series that only a loaded filter has becomes active with its next sample") {
    limit_rules rules{.global = {.hourly = 100, .active = 0}};
    offering filters{rules, at(10), set_kind::bloom};
    filters.offer(series(0, 60), at(10));
    rules.global.active = 50;
    restarted<active_gate> gate{rules, saved(filters.limiter), at(10, 1)};
    gate.limiter.maintain(at(10, 1));
    CHECK(gate.active() == 0);
    CHECK(gate.accepted(series(0, 60), at(10, 2)) == 60);  // the hour knows them
    CHECK(gate.active() == 60);
    CHECK(gate.accepted(series(60, 10), at(10, 2)) == 0);
    CHECK(figures_of(gate.limiter).hourly.series_current == 60);
}

TEST_CASE("the table has each combination of budgets once, and forgets those that nobody is in") {
    active_series all{hash_key::known_to_all()};
    std::vector<active_series::budget_number> budgets;
    for (int i = 0; i < 2'000; ++i) budgets.push_back(all.open_budget());
    std::vector<combination_number> joined;
    for (std::size_t i = 0; i < budgets.size(); ++i)
        for (int twice = 0; twice < 2; ++twice)
            joined.push_back(all.join(std::array{budgets[i], budgets[(i + 1) % budgets.size()]}));
    CHECK(all.combinations() == 2'000);
    for (const auto each : budgets) CHECK(all.count_in(each) == 4);
    const auto bytes = all.bytes();
    all.keep_freed();
    for (const auto each : joined) all.leave(each);
    CHECK(all.combinations() == 0);
    CHECK(all.budgets_of(joined.front()).size() == 2);  // as long as a copy may name it
    while (all.free_kept(100)) {
    }
    CHECK(all.budgets_of(joined.front()).empty());
    for (const auto each : budgets) all.close_budget(each);
    CHECK(all.open_budget() <= 2'000);
    CHECK(all.bytes() < bytes);
}

// The figures of a rollout: a thousand pods of 60 series, replaced within ten minutes, beside an explosion that has a
// limit of its own.
TEST_CASE("a rollout passes an active limit of 1.2 times the demand, and an explosion beside it does not", "[both]") {
    const bool has_markers = GENERATE(true, false);
    CAPTURE(has_markers);
    constexpr std::uint64_t of_pod = 60;
    const std::uint64_t pods = sanitized ? 100 : 1'000;
    const std::uint64_t explosion = sanitized ? 50'000 : has_markers ? 10'000'000 : 1'000'000;
    // Without markers old pods stay active for activeWindow: so at most 15 % of the pods in one.
    const std::uint64_t replaced = has_markers ? pods : pods * 15 / 100;
    constexpr std::uint64_t steps = 40;  // of 15 seconds: ten minutes
    limit_rules rules;
    rules.limits.push_back(limit_named("shop", {}, {.active = pods * of_pod * 12 / 10}, R"({ns="shop"})"));
    rules.limits.push_back(limit_named("sick", {}, {.active = 1'000}, R"({ns="sick"})"));
    active_gate gate{rules, at(10)};
    const label_set shop{{"ns", "shop"}}, sick{{"ns", "sick"}};
    const auto send = [&](std::span<const offered_series> offered, const label_set& labels, time_point now) {
        shown_labels shown;
        shown.entries.assign(offered.size(), views_of(labels));
        return gate.accepted(offered, now, {.tenant = "", .labels = &shown});
    };
    std::vector<std::uint64_t> generation(pods, 0);
    const auto pod_series = [&](std::uint64_t pod) { return series((generation[pod] * pods + pod) * of_pod, of_pod); };
    std::uint64_t exploded = 0, of_explosion = 0;
    time_point now = at(10);
    for (std::uint64_t step = 0; step < 4 + steps; ++step, now += 15s) {
        gate.limiter.maintain(now);
        for (std::uint64_t pod = 0; pod < pods; ++pod) {
            const bool is_replaced =
                step >= 4 && pod >= replaced * (step - 4) / steps && pod < replaced * (step - 3) / steps;
            if (is_replaced) {
                auto markers = pod_series(pod);
                for (offered_series& each : markers) each.admits = false;
                if (has_markers) send(markers, shop, now);
                ++generation[pod];
            }
            const auto some = pod_series(pod);
            if (send(some, shop, now) != some.size()) FAIL("refused at step " << step << ", pod " << pod);
        }
        for (std::uint64_t end = exploded + explosion / steps; step >= 4 && exploded < end; exploded += 2'000)
            of_explosion += send(series((std::uint64_t{1} << 40) + exploded, 2'000), sick, now);
    }
    CHECK(of_explosion >= 1'000);
    CHECK(of_explosion <= 2'000);  // those of the first minutes may be idle by the end
    for (const budget_figures& each : figures_of(gate.limiter).limits)
        CHECK(each.active->series_current <= each.active->series_max);
}

TEST_CASE("series go idle while requests touch them, and no count is lost") {
    constexpr std::uint64_t many = 20'000;
    active_gate gate{{.global = {.active = 2 * many}}, at(10)};
    std::atomic<int> minute{0};
    std::atomic<bool> done{false};
    const auto now_of = [](int minutes) { return at(10) + std::chrono::minutes{minutes}; };
    std::vector<std::thread> senders;
    for (std::uint64_t sender = 0; sender < 2; ++sender)
        senders.emplace_back([&, sender] {
            lookup_result scratch;
            random_numbers random{sender};
            while (!done) {
                auto some = series(random.below(many), 500);
                if (random.one_in(4))
                    for (offered_series& each : some) each.admits = false;
                std::vector<verdict> verdicts(some.size(), verdict::unknown);
                gate.limiter.decide(some, now_of(minute), verdicts, scratch);
            }
        });
    std::string bytes;
    for (; minute < (sanitized ? 50 : 200); ++minute) {
        for (int i = 0; i < 3; ++i) gate.limiter.maintain(now_of(minute));
        if (minute % 20 == 0) bytes = saved(gate.limiter);
    }
    done = true;
    for (std::thread& each : senders) each.join();
    // What the table has and what the counts say is the same: summed anew, it is the same again.
    const restarted<active_gate> again{{.global = {.active = 2 * many}}, saved(gate.limiter), now_of(minute)};
    CHECK(again.active() == gate.active());
    gate.limiter.maintain(now_of(minute + 30));
    CHECK(gate.active() == 0);
    CHECK_FALSE(bytes.empty());
}
