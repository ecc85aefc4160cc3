// What a gate of a fleet has yet to tell its store: against a model, over hours, losses of memory, and a restart.
#include "limit/telling.hpp"

#include <random>

#include "limit/fleet_gate.hpp"
#include "limit/labelled.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

limit_rules observed() {
    return {.global = {.hourly = 1'000'000, .daily = 1'000'000},
            .limits = {limit_named("by job", {"job"}, {.hourly = 1'000})}};
}

/// A gate with a table, and its notes of what is untold.
struct telling_gate : fleet_gate {
    std::vector<std::uint64_t> noted{};

    explicit telling_gate(time_point now = at(10, 30)) : fleet_gate(observed(), now) {
        noted.reserve(untold_notes::count_max);
        static_cast<void>(take_untold(limiter, noted));
        noted.clear();
        noted.reserve(untold_notes::count_max);
    }

    entered_windows windows_of(std::uint64_t fingerprint, tell_kind kind = tell_kind::untold) {
        const telling made = describe(limiter, {&fingerprint, 1}, kind);
        return made.all.empty() ? entered_windows{} : made.all.front().windows;
    }
    std::uint64_t fingerprint(std::uint64_t series) const { return fingerprint_in(sent, series); }
};

}  // namespace

TEST_CASE("what passes is untold until it is settled, in the hour and in the day") {
    telling_gate gate;
    CHECK(gate.offer(1, 2, at(10, 30), passes_untold) == std::vector(2, verdict::admitted));
    CHECK(gate.offer(3, 1, at(10, 30), store_takes) == std::vector(1, verdict::admitted));
    CHECK(gate.untold() == std::set{gate.fingerprint(1), gate.fingerprint(2)});
    const std::vector<std::uint64_t> all{gate.fingerprint(1), gate.fingerprint(2), gate.fingerprint(3)};
    const telling made = describe(gate.limiter, all, tell_kind::untold);
    REQUIRE(made.all.size() == 2);
    CHECK(made.all[0].windows == entered_windows{.hour = true, .day = true});
    REQUIRE(made.budgets.size() == 1);
    REQUIRE(made.budgets[0].size() == 3);
    CHECK(made.budgets[0][1].key == "red");
    CHECK(made.budgets[0][2].role.kind == budget_kind::group);
    mark_told(gate.limiter, made);
    CHECK(gate.untold().empty());
    CHECK(gate.windows_of(all[0], tell_kind::refills) == entered_windows{.hour = true, .day = true});
}

TEST_CASE("a series that passes in two hours is untold in both") {
    telling_gate gate;
    gate.offer(1, 1, at(10, 30), passes_untold);
    const std::uint64_t one = gate.fingerprint(1);
    gate.limiter.maintain(at(11, 0));
    CHECK(gate.windows_of(one) == entered_windows{.day = true, .before = true});
    const telling late = describe(gate.limiter, {&one, 1}, tell_kind::untold);
    gate.offer(1, 1, at(11, 1), passes_untold);
    CHECK(gate.windows_of(one) == entered_windows{.hour = true, .day = true, .before = true});
    mark_told(gate.limiter, late);  // of the hour before alone
    CHECK(gate.windows_of(one) == entered_windows{.hour = true, .day = true});
    gate.limiter.maintain(at(13, 0));  // two hours later only the day is left
    CHECK(gate.windows_of(one) == entered_windows{.day = true});
}

TEST_CASE("what was said in another hour settles nothing") {
    telling_gate gate;
    gate.offer(1, 1, at(10, 59), passes_untold);
    const std::uint64_t one = gate.fingerprint(1);
    const telling made = describe(gate.limiter, {&one, 1}, tell_kind::untold);
    gate.offer(1, 1, at(11, 0), passes_untold);
    mark_told(gate.limiter, made);
    CHECK(gate.windows_of(one) == entered_windows{.hour = true, .day = true, .before = true});
}

TEST_CASE("a series that another gate has told of is told in the hour, not in the hour before") {
    telling_gate gate;
    gate.offer(1, 1, at(10, 30), passes_untold);
    const std::uint64_t one = gate.fingerprint(1);
    gate.limiter.maintain(at(11, 0));
    SECTION("before it comes here") {
        REQUIRE(learn(gate.limiter, hour_of(at(11, 0)), {&one, 1}));
    }
    SECTION("after it has passed here") {
        gate.offer(1, 1, at(11, 1), passes_untold);
        REQUIRE(learn(gate.limiter, hour_of(at(11, 0)), {&one, 1}));
    }
    CHECK(gate.windows_of(one) == entered_windows{.before = true});
}

TEST_CASE("after a loss of data a series that was only heard of is told when it comes") {
    telling_gate gate;
    gate.lookup(1, 1, at(10, 30));
    const std::uint64_t one = gate.fingerprint(1);
    REQUIRE(learn(gate.limiter, hour_of(at(10, 30)), {&one, 1}));
    CHECK(gate.windows_of(one, tell_kind::refills) == entered_windows{});  // nobody knows its budgets
    const bool lost = GENERATE(false, true);
    if (lost) tell_all(gate.limiter);
    SECTION("in the same hour") {
        CHECK(gate.lookup(1, 1, at(10, 31)) == 1);  // the slow path finds its budgets
        CHECK(gate.commit(gate.saying(store_takes), at(10, 31)) == std::vector(1, verdict::known));
        CHECK(gate.lookup(1, 1, at(10, 32)) == 0);
        CHECK(gate.windows_of(one) == (lost ? entered_windows{.hour = true, .day = true} : entered_windows{}));
    }
    SECTION("in the next hour") {
        gate.offer(1, 1, at(11, 1), store_takes);
        CHECK(gate.windows_of(one) == (lost ? entered_windows{.before = true} : entered_windows{}));
    }
}

TEST_CASE("what was not noted can be found") {
    telling_gate gate;
    std::vector<std::uint64_t> none;  // of no capacity
    static_cast<void>(take_untold(gate.limiter, none));
    gate.offer(1, 3, at(10, 30), passes_untold);
    std::vector<std::uint64_t> noted;
    noted.reserve(8);
    CHECK(take_untold(gate.limiter, noted));
    CHECK(noted.empty());
    CHECK(gate.untold().size() == 3);
    gate.offer(4, 2, at(10, 30), passes_untold);
    std::vector<std::uint64_t> more;
    CHECK_FALSE(take_untold(gate.limiter, more));
    CHECK(more == std::vector{gate.fingerprint(4), gate.fingerprint(5)});
}

TEST_CASE("what is untold is so after a restart") {
    telling_gate gate;
    gate.offer(1, 2, at(10, 59), passes_untold);
    gate.offer(1, 1, at(11, 1), passes_untold);
    const std::string bytes = saved(gate.limiter);
    telling_gate again{at(11, 2)};
    REQUIRE(restored(again.limiter, bytes, at(11, 2)));
    again.sent = gate.sent;
    CHECK(again.untold() == gate.untold());
    CHECK(again.windows_of(gate.fingerprint(1)) == entered_windows{.hour = true, .day = true, .before = true});
    CHECK(again.windows_of(gate.fingerprint(2)) == entered_windows{.day = true, .before = true});
    std::vector<std::uint64_t> noted;
    CHECK(take_untold(again.limiter, noted));  // all are to be searched for
    const std::vector<std::uint64_t> both{gate.fingerprint(1), gate.fingerprint(2)};
    CHECK(describe(again.limiter, both, tell_kind::untold).budgets.front().size() == 3);
}

TEST_CASE("that places have lapsed is known after a restart") {
    telling_gate gate;
    const std::uint64_t revision = gate.limiter.revision();
    note_lapse(gate.limiter, hour_number(at(10, 0)));
    CHECK(gate.limiter.revision() != revision);
    telling_gate next{at(10, 40)};
    CHECK(lapsed_hour_of(next.limiter) == -1);
    REQUIRE(restored(next.limiter, saved(gate.limiter), at(10, 40)));
    CHECK(lapsed_hour_of(next.limiter) == hour_number(at(10, 0)));
    gate.limiter.maintain(at(11, 0));
    telling_gate later{at(11, 1)};
    REQUIRE(restored(later.limiter, saved(gate.limiter), at(11, 1)));
    CHECK(lapsed_hour_of(later.limiter) == -1);
}

TEST_CASE("what comes again while the state is saved is untold after a restart, in the hour before, too") {
    struct interrupted_sink final : state_sink {
        std::string bytes;
        std::function<void()> at_first;
        bool write(std::string_view more) override {
            if (const auto once = std::exchange(at_first, nullptr)) once();
            bytes.append(more);
            return true;
        }
    };
    telling_gate gate;
    gate.offer(1, 1, at(10, 59), passes_untold);
    gate.limiter.maintain(at(11));
    interrupted_sink sink;
    sink.at_first = [&gate] { gate.offer(1, 1, at(11), passes_untold); };
    REQUIRE(save_snapshot(gate.limiter, sink));
    REQUIRE_FALSE(sink.at_first);
    telling_gate again{at(11, 2)};
    REQUIRE(restored(again.limiter, sink.bytes, at(11, 2)));
    again.sent = gate.sent;
    CHECK(again.windows_of(gate.fingerprint(1)) == entered_windows{.hour = true, .day = true, .before = true});
}

TEST_CASE("random hours leave untold what the store does not know") {
    constexpr std::uint64_t series_count = 40;
    std::mt19937_64 random{GENERATE(range(std::uint64_t{0}, std::uint64_t{20}))};
    const auto below = [&random](std::uint64_t end) {
        return std::uniform_int_distribution<std::uint64_t>{0, end - 1}(random);
    };
    telling_gate gate{at(0, 30)};
    struct known {
        std::set<int> here{}, store{};  ///< hours
    };
    std::map<std::uint64_t, known> model;
    int hour = 0;
    for (int step = 0; step < 400; ++step) {
        const time_point now = at(hour, 30);
        const std::uint64_t series = 1 + below(series_count);
        const std::uint64_t fingerprint = fingerprint_in(gate.sent, series);
        known& of = model[fingerprint];
        switch (below(8)) {
            case 0:
                hour += hour < 22 && below(3) == 0 ? 1 : 0;
                gate.limiter.maintain(at(hour, 30));
                break;
            case 1:
                REQUIRE(learn(gate.limiter, hour_of(now), {&fingerprint, 1}));
                of.here.insert(hour);
                of.store.insert(hour);
                break;
            case 2:
            case 3: {
                const telling made = describe(gate.limiter, {&fingerprint, 1}, tell_kind::untold);
                mark_told(gate.limiter, made);
                for (const telling::series& each : made.all) {
                    if (each.windows.hour) of.store.insert(hour);
                    if (each.windows.before) of.store.insert(hour - 1);
                }
                break;
            }
            default: {
                const bool is_taken = below(2) == 0;
                const bool is_known = of.here.contains(hour);
                gate.offer(series, 1, now, is_taken ? store_takes : passes_untold);
                of.here.insert(hour);
                if (is_taken && !is_known) of.store.insert(hour);
            }
        }
        std::set<std::uint64_t> untold;
        for (const auto& entry : model) {
            const std::uint64_t each = entry.first;
            const known& its = entry.second;
            const auto is_untold = [&its](int in) { return its.here.contains(in) && !its.store.contains(in); };
            const entered_windows windows = gate.windows_of(each);
            REQUIRE(windows.hour == is_untold(hour));
            REQUIRE(windows.before == is_untold(hour - 1));
            if (windows.any()) untold.insert(each);
        }
        std::set<std::uint64_t> found = gate.untold();
        std::erase_if(found, [&](std::uint64_t each) { return !gate.windows_of(each).any(); });  // too late
        REQUIRE(found == untold);
    }
}
