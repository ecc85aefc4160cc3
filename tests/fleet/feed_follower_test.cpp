// What a gate makes of pages of its fleet's feed.
#include "claim/feed_follower.hpp"

#include "limit/learning.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing::feed_follower_test {
namespace {

constexpr std::int64_t hour = 1'139'580;  // 2100-01-01, noon
constexpr std::uint64_t own_run = 1, other_run = 2, budget = 5;
constexpr std::uint64_t begin = 100;  // series of the feed before the gate follows it

/// The series first to upto - 1 of the feed, granted by one call.
fed_call call_of(std::uint64_t first, std::uint64_t upto, std::uint64_t run = other_run) {
    fed_call made{.upto = upto,
                  .run = run,
                  .hour = hour,
                  .runs = {{.windows = {.hour = true, .day = true}, .budgets = {0}}},
                  .budgets = {{.id = budget, .hourly = upto, .daily = upto + 1'000}}};
    for (std::uint64_t i = first; i < upto; ++i) made.runs[0].fingerprints.push_back(fingerprint_of(i));
    return made;
}

/// A gate that has downloaded what was granted before `begin`.
struct following_gate {
    using steady_point = feed_follower::steady_point;
    static constexpr steady_point sent{1'000s};

    time_point now{std::chrono::hours{hour} + 10min};
    open_windows open{.hour = hour, .generation = 1, .buckets = {.hour = 4, .day = 4}};
    series_limiter limiter{
        {.global = {.hourly = 10}}, now, hash_key::known_to_all(), limit_scope::fleet, set_kind::exact};
    fleet_view view;
    feed_follower feed{limiter, view, own_run, 200ms};
    feed_follower::news came;

    following_gate() {
        view.begin("e", open);
        view.set_state(store_reach::joined);
        CHECK(feed.wants_download());
        CHECK_FALSE(hear({}, begin));  // where a download begins to be enough
        CHECK(feed.read() == begin);
        feed.has_downloaded();
    }

    bool hear(std::vector<fed_call> calls, std::uint64_t fed, const char* epoch = "e") {
        const feed_page page{.state = {.windows = open, .epoch = epoch, .fed = fed}, .calls = std::move(calls)};
        return feed.read_page(page, sent, now, came);
    }
    [[nodiscard]] bool is_fresh(std::chrono::milliseconds later = 0ms) const { return view.is_fresh(sent + later); }
    [[nodiscard]] bool has(std::uint64_t series) const { return limiter.hour_has(fingerprint_of(series)); }
    [[nodiscard]] fleet_view::budget_counts counts() const {
        return view.counts_of(budget).value_or(fleet_view::budget_counts{});
    }
};

TEST_CASE("what other gates were granted is known, and how full their budgets are") {
    following_gate gate;
    CHECK(gate.hear({call_of(100, 102), call_of(102, 105)}, 105));
    for (std::uint64_t i = 99; i <= 105; ++i) CHECK(gate.has(i) == (i >= 100 && i < 105));
    CHECK(gate.counts() == fleet_view::budget_counts{.hourly = 105, .daily = 1'105, .fed = 105});
    CHECK(gate.feed.read() == 105);
    CHECK(gate.came.series == 5);
    CHECK(gate.came.gaps == 0);
}

TEST_CASE("series that others have passed too late for their hour are known as incumbents, too") {
    following_gate gate;
    expect_hour_before(gate.limiter, hour_of(gate.now));
    fed_call late = call_of(100, 102);
    late.runs[0].windows = {.before = true};
    late.budgets[0] = {.id = budget, .hourly = 1, .before = 9};
    gate.hear({late}, 102);
    CHECK_FALSE(gate.has(101));
    CHECK(gate.limiter.was_admitted_before(fingerprint_of(101)));
    CHECK(gate.counts().before == 9);
    CHECK(gate.came.gaps == 0);
}

TEST_CASE("a gate is fresh for a second after it has asked, if nothing is left to read") {
    following_gate gate;
    CHECK_FALSE(gate.is_fresh());
    gate.hear({}, begin);
    CHECK(gate.is_fresh(999ms));
    CHECK_FALSE(gate.is_fresh(1s));
    SECTION("and the store is there") {
        gate.feed.lose();
        CHECK_FALSE(gate.is_fresh());
    }
    SECTION("with a full page there is more") {
        gate.feed.lose();
        std::vector<fed_call> full;
        for (std::uint64_t i = begin; i < begin + feed_entries_max; ++i) full.push_back(call_of(i, i + 1));
        CHECK(gate.hear(full, begin + feed_entries_max + 2));
        CHECK_FALSE(gate.is_fresh());
        CHECK(
            gate.hear({call_of(begin + feed_entries_max, begin + feed_entries_max + 2)}, begin + feed_entries_max + 2));
        CHECK(gate.is_fresh());
        CHECK(gate.came.gaps == 0);
    }
}

TEST_CASE("entries from before a loss are not read") {
    following_gate gate;
    gate.hear({}, begin);
    const feed_page page{.state = {.status = heartbeat_status::other_epoch, .windows = gate.open, .epoch = "f"}};
    CHECK_FALSE(gate.feed.read_page(page, gate.sent, gate.now, gate.came));
    gate.view.begin("f", gate.open);
    CHECK_FALSE(gate.hear({call_of(200, 205)}, 205, "f"));
    CHECK(gate.feed.read() == 205);
    CHECK_FALSE(gate.has(204));
}

TEST_CASE("what is missing is noticed and to be downloaded, and the rest is known") {
    following_gate gate;
    gate.hear({}, begin);
    gate.feed.lose();
    SECTION("at the page's beginning") {
        gate.hear({call_of(101, 105)}, 105);
        CHECK(gate.has(104));
    }
    SECTION("amid the page") {
        gate.hear({call_of(100, 102), call_of(103, 105)}, 105);
        CHECK(gate.has(104));
    }
    SECTION("at its end") {
        gate.hear({call_of(100, 102)}, 105);
        CHECK(gate.has(101));
    }
    CHECK(gate.feed.read() == 105);
    CHECK(gate.came.gaps == 1);
    CHECK(gate.feed.wants_download());
    CHECK_FALSE(gate.is_fresh());
    gate.hear({call_of(105, 106)}, 106);
    CHECK_FALSE(gate.is_fresh());
    gate.feed.has_downloaded();
    gate.hear({call_of(106, 107)}, 107);
    CHECK(gate.is_fresh());
    CHECK(gate.came.gaps == 1);
}

TEST_CASE("in another epoch nothing is known of what was granted") {
    following_gate gate;
    gate.hear({call_of(100, 102, own_run)}, 102);
    REQUIRE(gate.is_fresh());
    SECTION("the gate has heard of it") {
        gate.view.begin("f", gate.open);
        CHECK_FALSE(gate.hear({call_of(200, 205)}, 205, "f"));
        CHECK(gate.feed.read() == 205);
    }
    SECTION("the store says so") {
        const feed_page page{.state = {.status = heartbeat_status::other_epoch, .windows = gate.open, .epoch = "f"}};
        CHECK_FALSE(gate.feed.read_page(page, gate.sent, gate.now, gate.came));
    }
    CHECK_FALSE(gate.is_fresh());
    CHECK(gate.feed.wants_download());
    gate.feed.learn_late(gate.sent + 1h);
    CHECK_FALSE(gate.has(100));
    CHECK_FALSE(gate.has(204));
    CHECK(gate.came.gaps == 0);
}

TEST_CASE("what this gate was granted is known when no answer can come any more, and counts wait for it") {
    following_gate gate;
    gate.hear({call_of(100, 102, own_run), call_of(102, 104)}, 104);
    CHECK(gate.is_fresh());
    CHECK(gate.came.series == 2);
    CHECK(gate.has(103));
    const bool is_lost = GENERATE(false, true);
    if (is_lost) gate.view.begin("f", gate.open);
    gate.feed.learn_late(gate.sent + 699ms);  // an answer takes 200 ms, and what comes of it 500 ms
    CHECK_FALSE(gate.has(100));
    CHECK(gate.counts().hourly == 0);
    gate.feed.learn_late(gate.sent + 700ms);
    CHECK(gate.has(100) == !is_lost);
    CHECK(gate.counts().hourly == (is_lost ? 0 : 104));
}

TEST_CASE("calls that wait are bounded") {
    following_gate gate;
    constexpr std::uint64_t bound = 16 * 1024;
    std::vector<fed_call> calls;
    for (std::uint64_t i = begin; i <= begin + bound; ++i) calls.push_back(call_of(i, i + 1, own_run));
    gate.hear(calls, begin + bound + 1);
    gate.feed.learn_late(gate.sent);
    CHECK(gate.has(begin));
    CHECK_FALSE(gate.has(begin + 1));
}

TEST_CASE("an hour begins with its first page, and what was granted before counts as of the hour before") {
    following_gate gate;
    gate.hear({call_of(100, 102)}, 102);
    gate.feed.lose();
    gate.now += 1h;
    ++gate.open.hour;
    fed_call next = call_of(103, 105);
    ++next.hour;
    SECTION("by the fleet's time") {
        CHECK(gate.hear({call_of(102, 103), next}, 105));
        CHECK(gate.has(104));
        CHECK(gate.limiter.was_admitted_before(fingerprint_of(101)));
        CHECK(gate.counts() == fleet_view::budget_counts{.hourly = 105, .daily = 1'105, .before = 103, .fed = 105});
        CHECK(gate.is_fresh());
        CHECK_FALSE(gate.feed.wants_download());
    }
    SECTION("and if that is behind the store's, all is to be downloaded") {
        gate.now -= 1h;
        CHECK(gate.hear({call_of(102, 103), next}, 105));
        CHECK_FALSE(gate.has(104));
        CHECK(gate.feed.wants_download());
        CHECK_FALSE(gate.is_fresh());
        gate.now += 1h;
        gate.feed.has_downloaded();
        gate.hear({}, 105);
        CHECK(gate.is_fresh());
    }
}

}  // namespace
}  // namespace seriesgate::testing::feed_follower_test
