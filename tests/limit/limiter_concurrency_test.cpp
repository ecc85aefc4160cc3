#include <atomic>
#include <barrier>
#include <thread>
#include <unordered_set>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::limiter_concurrency_test {
namespace {

constexpr unsigned thread_count = 8;

using series_set = std::unordered_set<std::uint64_t>;

/// One sender: offers requests and keeps what was accepted.
class sender {
    series_limiter& limiter_;
    lookup_result scratch_;
    std::vector<offered_series> offered_;
    std::vector<verdict> verdicts_;

  public:
    random_numbers random;
    series_set accepted;
    std::uint64_t refused = 0;

    sender(series_limiter& limiter, std::uint64_t seed) : limiter_(limiter), random(seed) {}

    /// Offers `count` series drawn from [0, pool), some of them twice.
    void offer(std::uint64_t pool, std::size_t count, time_point now) {
        offered_.resize(count);
        for (auto& entry : offered_)
            entry = {.fingerprint = fingerprint_of(random.below(pool)), .samples = 1, .admits = true};
        decide(now);
    }

    void offer_one(std::uint64_t fingerprint, time_point now) {
        offered_.assign(1, {.fingerprint = fingerprint, .samples = 1, .admits = true});
        decide(now);
    }

  private:
    void decide(time_point now) {
        verdicts_.resize(offered_.size());
        limiter_.decide(offered_, now, verdicts_, scratch_);
        for (std::size_t i = 0; i < offered_.size(); ++i) {
            if (is_accepted(verdicts_[i])) {
                accepted.insert(offered_[i].fingerprint);
            } else {
                ++refused;
            }
        }
    }
};

std::vector<sender> senders_of(series_limiter& limiter) {
    std::vector<sender> senders;
    for (unsigned i = 0; i < thread_count; ++i) senders.emplace_back(limiter, i);
    return senders;
}

/// Runs `work(sender)` of all senders at once.
template <class Work>
void run_at_once(std::vector<sender>& senders, Work work) {
    std::barrier start{static_cast<std::ptrdiff_t>(senders.size())};
    std::vector<std::thread> threads;
    for (auto& one : senders)
        threads.emplace_back([&] {
            start.arrive_and_wait();
            work(one);
        });
    for (auto& thread : threads) thread.join();
}

/// What all accepted together; the senders begin anew.
series_set take_accepted(std::vector<sender>& senders) {
    series_set all;
    for (auto& one : senders) all.merge(one.accepted);
    for (auto& one : senders) one.accepted.clear();
    return all;
}

time_point time_of(std::int64_t seconds) {
    return std::chrono::sys_seconds{std::chrono::seconds{seconds}};
}

/// Maintenance as the program does it, but without a pause.
class maintenance {
    std::atomic<bool> done_{false};
    std::atomic<std::int64_t> seen_{0};
    std::thread thread_;

  public:
    maintenance(series_limiter& limiter, const std::atomic<std::int64_t>& now_seconds)
        : thread_([this, &limiter, &now_seconds] {
              while (!done_) {
                  const auto now = now_seconds.load();
                  limiter.maintain(time_of(now));
                  seen_ = now;
                  std::this_thread::yield();
              }
          }) {}
    ~maintenance() {
        done_ = true;
        thread_.join();
    }

    /// The last time that it has come round with.
    [[nodiscard]] std::int64_t seen() const { return seen_; }
};

std::int64_t seconds_of(time_point now) {
    return std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
}

}  // namespace

TEST_CASE("eight threads with overlapping series fill a limit to the last slot and not beyond", "[both]") {
    const std::uint64_t max = sanitized ? 2'000 : 10'000;
    const auto settings = GENERATE_COPY(values<limit_rules>({
        {.global = {.hourly = max}},
        {.global = {.daily = max}},
        {.global = {.hourly = max, .daily = max}},
    }));
    const auto kind = GENERATE(set_kind::bloom, set_kind::exact);
    series_limiter limiter{settings, at(10), hash_key::known_to_all(), limit_scope::gate, kind};
    std::atomic<std::int64_t> now{seconds_of(at(10))};
    const maintenance maintaining{limiter, now};
    auto senders = senders_of(limiter);
    run_at_once(senders, [&](sender& one) {
        for (std::uint64_t i = 0; i < max / 25; ++i) one.offer(4 * max, 200, at(10));
    });
    std::uint64_t refused = 0;
    for (const auto& one : senders) refused += one.refused;
    const auto figures = figures_of(limiter);
    CHECK(take_accepted(senders).size() == max);
    CHECK(figures.hourly.series_current == max);
    CHECK(figures.daily.series_current == max);
    // And every refused sample is counted, on the locked and on the lock-free path.
    CHECK(figures.hourly.samples_refused + figures.daily.samples_refused == refused);
}

TEST_CASE("eight threads that meet a new hour at once roll over once, and its budget is exact", "[both]") {
    const std::uint64_t max = sanitized ? 300 : 1'000;
    // The day's budget is spent in the course of the hours; every other pool is new in the hour.
    const std::uint64_t daily_max = 5 * max / 2;
    const auto kind = GENERATE(set_kind::bloom, set_kind::exact);
    series_limiter limiter{{.global = {.hourly = max, .daily = daily_max}, .incumbent_grace = 0s},
                           at(0),
                           hash_key::known_to_all(),
                           limit_scope::gate,
                           kind};
    std::atomic<std::int64_t> now{seconds_of(at(0))};
    const maintenance maintaining{limiter, now};
    auto senders = senders_of(limiter);
    series_set day;
    for (int hour = 0; hour < 36; ++hour) {
        const auto time = at(hour % 24, 0, 0, hour / 24);
        if (hour == 24) day.clear();
        now = seconds_of(time);
        run_at_once(senders, [&](sender& one) {
            for (int i = 0; i < 20; ++i) one.offer((hour % 24 < 3 ? 2 : 6) * max, 100, time);
        });
        // Here an hour passes faster than a thread may be off the processor: it must not come back with a time so old
        // that it means a clock set back.
        while (maintaining.seen() != now) std::this_thread::yield();
        const auto accepted = take_accepted(senders);
        day.insert(accepted.begin(), accepted.end());
        const auto figures = figures_of(limiter);
        CAPTURE(hour, day.size());
        CHECK(figures.hourly.span == hour_of(time));
        CHECK(figures.daily.span == day_of(time));
        CHECK(figures.hourly.series_current == accepted.size());
        CHECK(figures.daily.series_current == day.size());
        CHECK(accepted.size() <= max);
        CHECK(day.size() <= daily_max);
        if (hour % 24 < 2) CHECK(accepted.size() == max);
    }
    CHECK(day.size() == daily_max);
}

TEST_CASE("threads whose requests meet a new hour in the same instant roll over once", "[both]") {
    constexpr std::uint64_t racers = 4;
    const int hours = sanitized ? 100 : 2'000;
    const auto kind = GENERATE(set_kind::bloom, set_kind::exact);
    series_limiter limiter{{.global = {.hourly = racers}}, at(0), hash_key::known_to_all(), limit_scope::gate, kind};
    sender first{limiter, 0};
    for (std::uint64_t i = 0; i < racers; ++i) first.offer_one(fingerprint_of(i), at(0));
    std::atomic<int> hour{0};
    std::atomic<std::uint64_t> decided{0};
    std::atomic<std::uint64_t> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint64_t self = 0; self < racers; ++self)
        threads.emplace_back([&, self] {
            sender one{limiter, self};
            for (int mine = 1; mine <= hours; ++mine) {
                while (hour.load() < mine) std::this_thread::yield();
                const auto now = at(0) + std::chrono::hours{mine};
                // A newcomer, then an incumbent: had the hour begun twice, an incumbent would be forgotten or the
                // room that is kept for it be gone.
                one.offer_one(fingerprint_of(1'000'000 + static_cast<std::uint64_t>(mine) * racers + self), now);
                one.offer_one(fingerprint_of(self), now);
                if (++decided == racers * static_cast<std::uint64_t>(mine)) {
                    if (figures_of(limiter).hourly.series_current != racers) ++wrong;
                    ++hour;
                }
            }
            if (one.refused != static_cast<std::uint64_t>(hours)) ++wrong;
        });
    hour = 1;
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
    CHECK(figures_of(limiter).hourly.span == hour_of(at(0) + std::chrono::hours{hours}));
}

TEST_CASE("eight threads race for the incumbents' hour, and every incumbent gets its slot", "[both]") {
    const std::uint64_t max = sanitized ? 400 : 2'000;
    const auto kind = GENERATE(set_kind::bloom, set_kind::exact);
    series_limiter limiter{{.global = {.hourly = max}}, at(10), hash_key::known_to_all(), limit_scope::gate, kind};
    auto senders = senders_of(limiter);
    run_at_once(senders, [&](sender& one) {
        while (one.accepted.size() < max) one.offer(max, 200, at(10));
    });
    take_accepted(senders);

    std::atomic<unsigned> index{0};
    std::atomic<std::uint64_t> incumbents_refused{0};
    run_at_once(senders, [&](sender& one) {
        if (index++ % 4 != 0) {  // six of eight send an explosion
            for (int i = 0; i < 40; ++i) one.offer(1'000'000, 200, at(11));
        } else {
            while (one.accepted.size() < max && one.refused == 0) one.offer(max, 200, at(11));
            incumbents_refused += one.refused;
        }
    });
    CHECK(incumbents_refused == 0);
    CHECK(take_accepted(senders).size() == max);
    CHECK(figures_of(limiter).hourly.series_current == max);
}

TEST_CASE("while the clock runs through hours and days no figure ever exceeds its limit, and no window its budget",
          "[both]") {
    const std::uint64_t max = sanitized ? 200 : 500;
    const std::uint64_t daily_max = 3 * max;
    const auto kind = GENERATE(set_kind::bloom, set_kind::exact);
    series_limiter limiter{{.global = {.hourly = max, .daily = daily_max}, .incumbent_grace = 5min},
                           at(0),
                           hash_key::known_to_all(),
                           limit_scope::gate,
                           kind};
    std::atomic<std::int64_t> now{seconds_of(at(0))};
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> exceeded{0};

    // A request's series belong to a window for certain when the window was the same before and after it.
    using windows = std::map<std::chrono::sys_seconds, series_set>;
    std::vector<windows> hours(thread_count);
    std::vector<windows> days(thread_count);
    std::vector<std::atomic<std::int64_t>> seen(thread_count);
    std::atomic<unsigned> index{0};
    auto senders = senders_of(limiter);
    {
        constexpr std::int64_t step = 20 * 60;
        const auto end = now + (sanitized ? 26 : 36) * 3600;
        const maintenance maintaining{limiter, now};
        // Nobody's time may be an hour late, or it would mean a clock set back.
        const auto all_follow = [&] {
            return maintaining.seen() >= now - step &&
                   std::ranges::all_of(seen, [&](const auto& mine) { return mine >= now - step; });
        };
        run_at_once(senders, [&](sender& one) {
            const unsigned self = index++;
            while (!done) {
                const auto before = figures_of(limiter);
                const auto time = now.load();
                one.offer(4 * max, 100, time_of(time));
                const auto after = figures_of(limiter);
                if (after.hourly.series_current > max || after.daily.series_current > daily_max) ++exceeded;
                if (before.hourly.span == after.hourly.span)
                    hours[self][after.hourly.span.start].insert(one.accepted.begin(), one.accepted.end());
                if (before.daily.span == after.daily.span)
                    days[self][after.daily.span.start].insert(one.accepted.begin(), one.accepted.end());
                one.accepted.clear();
                seen[self] = time;
                if (self == 0 && all_follow() && (now += step) >= end) done = true;
            }
        });
    }
    CHECK(exceeded == 0);

    const auto sizes = [](std::vector<windows>& by_thread) {
        windows all;
        for (auto& mine : by_thread)
            for (auto& [start, accepted] : mine) all[start].merge(accepted);
        std::vector<std::size_t> counted;
        for (const auto& [start, accepted] : all) counted.push_back(accepted.size());
        return counted;
    };
    CHECK(std::ranges::max(sizes(hours)) <= max);
    CHECK(std::ranges::max(sizes(days)) <= daily_max);
    CHECK(sizes(hours).size() >= 10);
    CHECK(sizes(days).size() >= 2);
}

}  // namespace seriesgate::testing::limiter_concurrency_test
