#include "cardinality/demand_history.hpp"

#include "support/catch.hpp"
#include "support/state_text.hpp"

namespace seriesgate::testing::demand_history_test {
namespace {

using std::chrono::sys_days;
using std::chrono::sys_seconds;
using past = demand_history::past;

constexpr sys_seconds midnight = sys_days{std::chrono::year{2026} / 3 / 10};

budget_name group_named(const std::string& value) {
    budget_name name;
    name.limit = "per-namespace";
    name.group = {{"namespace", value}};
    return name;
}

std::string key_of(const std::string& value) {
    return demand_key(demand_scope::group, group_named(value));
}

ended_budget hour_of_group(const std::string& value, sys_seconds start, std::uint64_t series) {
    return {.scope = demand_scope::group,
            .name = group_named(value),
            .hour = window_demand{.start = start, .series = series},
            .day = {}};
}

void add(demand_history& to, const ended_budget& one) {
    to.add({&one, 1});
}

/// 30 hours and two days of two groups.
demand_history example() {
    demand_history made;
    for (std::uint64_t n = 0; n < 30; ++n) {
        add(made, hour_of_group("a", midnight + n * 1h, 100 + n));
        add(made, hour_of_group("b", midnight + n * 1h, n == 29 ? 7 : 0));
    }
    ended_budget day = hour_of_group("a", midnight + 23h, 123);
    day.day = {.start = midnight, .series = 900};
    add(made, day);
    return made;
}

TEST_CASE("the last 24 hours are kept, with their peak and their median") {
    const demand_history history = example();
    CHECK(history.find(key_of("a")).hourly == past{.peak = 129, .typical = 117, .windows = 24});
    CHECK(history.find(key_of("a")).daily == past{.peak = 900, .typical = 900, .windows = 1});
    CHECK(history.find(key_of("b")).hourly == past{.peak = 7, .typical = 7, .windows = 1});
    CHECK(history.find(key_of("c")) == demand_history::pasts{});
}

TEST_CASE("the last 14 days are kept") {
    demand_history history;
    for (std::uint64_t n = 0; n < 20; ++n) {
        ended_budget day{.scope = demand_scope::global, .name = {}, .hour = {}, .day = {}};
        day.day = {.start = midnight + n * 24h, .series = 1'000 - n};
        add(history, day);
    }
    CHECK(history.find(demand_key(demand_scope::global, {})).daily == past{.peak = 994, .typical = 987, .windows = 14});
}

TEST_CASE("hours in which nothing came push out what is older, too") {
    demand_history history = example();  // up to the hour 29
    history.advance(midnight + 40h, midnight + 24h);
    // Hours 16 to 29 of 40: those before are more than 24 hours ago.
    CHECK(history.find(key_of("a")).hourly == past{.peak = 129, .typical = 122, .windows = 14});
    history.advance(midnight + 54h, midnight + 48h);
    CHECK(history.find(key_of("a")).hourly == past{});
    CHECK(history.find(key_of("a")).daily == past{.peak = 900, .typical = 900, .windows = 1});
    history.advance(midnight + 16 * 24h, midnight + 16 * 24h);
    CHECK(history.find(key_of("a")) == demand_history::pasts{});
    history.add({});
    CHECK(history.size() == 0);
}

TEST_CASE("a window that ends twice, as after a restart, keeps the larger number") {
    demand_history history;
    for (const std::uint64_t series : {5u, 9u, 2u}) add(history, hour_of_group("a", midnight, series));
    CHECK(history.find(key_of("a")).hourly == past{.peak = 9, .typical = 9, .windows = 1});
}

TEST_CASE("an hour that comes late finds its place") {
    demand_history history;
    add(history, hour_of_group("a", midnight + 5h, 5));
    add(history, hour_of_group("a", midnight + 3h, 3));
    add(history, hour_of_group("a", midnight + 27h, 1));
    CHECK(history.find(key_of("a")).hourly == past{.peak = 5, .typical = 1, .windows = 2});  // hour 3 is gone
}

TEST_CASE("a clock that was wrong does not keep later hours out") {
    demand_history history;
    add(history, hour_of_group("a", midnight + 1'000h, 5));
    add(history, hour_of_group("a", midnight, 3));
    CHECK(history.find(key_of("a")).hourly == past{.peak = 3, .typical = 3, .windows = 1});
    add(history, hour_of_group("a", midnight + 1h, 4));
    CHECK(history.find(key_of("a")).hourly == past{.peak = 4, .typical = 3, .windows = 2});
}

TEST_CASE("of more groups than are kept those with the highest peaks stay, and the gate always does") {
    demand_history history;
    std::vector<ended_budget> ended;
    ended.push_back({.scope = demand_scope::global, .name = {}, .hour = window_demand{midnight, 1}, .day = {}});
    for (std::uint64_t n = 1; n <= 3'000; ++n) ended.push_back(hour_of_group(std::to_string(n), midnight, n));
    history.add(ended);
    CHECK(history.size() == demand_history::parts_max + 1);
    CHECK(history.find(key_of("2001")).hourly.peak == 2'001);
    CHECK(history.find(key_of("2000")).hourly.peak == 0);
    CHECK(history.find(demand_key(demand_scope::global, {})).hourly.peak == 1);
}

TEST_CASE("limits that a reload has removed are bounded, too") {
    demand_history history;
    std::vector<ended_budget> ended;
    for (std::uint64_t n = 1; n <= 600; ++n) {
        ended.push_back({.scope = demand_scope::limit, .name = {}, .hour = window_demand{midnight, n}, .day = {}});
        ended.back().name.limit = "limit-" + std::to_string(n);
    }
    history.add(ended);
    CHECK(history.size() == demand_history::wholes_max);
}

TEST_CASE("a name that is too long is not kept") {
    demand_history history;
    add(history, hour_of_group(std::string(demand_history::key_bytes_max, 'x'), midnight, 5));
    CHECK(history.size() == 0);
}

TEST_CASE("a history is the same after it was saved and loaded") {
    const demand_history before = example();
    const std::string bytes = saved_text(before);
    demand_history after;
    REQUIRE(loads_text(after, bytes));
    CHECK(saved_text(after) == bytes);
    CHECK(after.find(key_of("a")) == before.find(key_of("a")));
    CHECK(after.size() == before.size());
    add(after, hour_of_group("a", midnight + 30h, 500));
    CHECK(after.find(key_of("a")).hourly == past{.peak = 500, .typical = 118, .windows = 24});
}

TEST_CASE("active series of the last 24 hours are kept, and saved where there are any") {
    demand_history before = example();
    const std::string without = saved_text(before);
    for (std::uint64_t n = 10; n < 40; ++n) {
        ended_budget ended = hour_of_group("a", midnight + n * 1h, 100 + n);
        ended.active = n == 10 ? 1'000 : 50 + n;
        add(before, ended);
    }
    CHECK(before.find(key_of("a")).active == past{.peak = 89, .typical = 77, .windows = 24});
    CHECK(before.find(key_of("b")).active == past{});
    const std::string bytes = saved_text(before);
    CHECK(bytes.front() == 2);
    CHECK(without.front() == 1);
    demand_history after;
    REQUIRE(loads_text(after, bytes));
    CHECK(saved_text(after) == bytes);
    REQUIRE(loads_text(after, without));
    CHECK(after.find(key_of("a")) == example().find(key_of("a")));
    for (std::size_t size = 0; size < bytes.size(); size += 7)
        REQUIRE_FALSE(loads_text(after, std::string_view{bytes}.substr(0, size)));
}

TEST_CASE("every cut of a history is refused, and changes nothing") {
    const std::string bytes = saved_text(example());
    demand_history history;
    add(history, hour_of_group("mine", midnight, 5));
    const std::string mine = saved_text(history);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        REQUIRE_FALSE(loads_text(history, std::string_view{bytes}.substr(0, size)));
        REQUIRE(saved_text(history) == mine);
    }
}

TEST_CASE("what no history has written is refused") {
    const auto refused = [](std::int64_t hour, std::int64_t day, std::uint64_t count,
                            const std::vector<std::string>& keys, std::uint8_t version = 1) {
        std::string bytes;
        text_sink sink{bytes};
        state_encoder out{sink};
        out.number(version);
        out.number(hour);
        out.number(day);
        out.number(count);
        for (const std::string& key : keys) {
            out.text(key);
            for (int i = 0; i < 38; ++i) out.number(std::uint64_t{1});
        }
        demand_history history;
        return !loads_text(history, bytes);
    };
    CHECK_FALSE(refused(1, 1, 1, {"e-x"}));
    CHECK(refused(1, 1, 1, {"e-x"}, 2));  // without the hours of active series
    CHECK(refused(1, 1, 1, {"e-x"}, 3));
    CHECK(refused(-1, 1, 1, {"e-x"}));
    CHECK(refused(1, -1, 1, {"e-x"}));
    CHECK(refused(3'000'000, 1, 1, {"e-x"}));
    CHECK(refused(1, 1, 2, {"e-x"}));
    CHECK(refused(1, 1, 2, {"e-x", "e-x"}));
    CHECK(refused(1, 1, 1, {""}));
    CHECK(refused(1, 1, 1, {"z"}));
    CHECK(refused(1, 1, 1, {std::string(demand_history::key_bytes_max + 1, 'e')}));
    CHECK(refused(1, 1, std::uint64_t{1} << 60, {"e-x"}));
    std::vector<std::string> parts;
    for (std::size_t n = 0; n <= demand_history::parts_max; ++n)
        parts.push_back(std::string{"e"}.append(std::to_string(n)));
    CHECK(refused(1, 1, parts.size(), parts));
    parts.pop_back();
    CHECK_FALSE(refused(1, 1, parts.size(), parts));
}

TEST_CASE("keys tell budgets apart") {
    budget_name tenant;
    tenant.has_tenant = true;
    tenant.tenant = "a";
    budget_name limit;
    limit.limit = "a";
    std::vector<std::string> keys{demand_key(demand_scope::global, {}),
                                  demand_key(demand_scope::tenants, {}),
                                  demand_key(demand_scope::tenant, tenant),
                                  demand_key(demand_scope::limit, limit),
                                  demand_key(demand_scope::group, limit),
                                  key_of("a"),
                                  key_of("b"),
                                  key_of("")};
    tenant.overflow = true;
    keys.push_back(demand_key(demand_scope::tenant, tenant));
    std::ranges::sort(keys);
    CHECK(std::ranges::adjacent_find(keys) == keys.end());
    for (const std::string& key : keys) CHECK(is_demand_key(key));
}

}  // namespace
}  // namespace seriesgate::testing::demand_history_test
