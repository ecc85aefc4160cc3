// Random requests at random times, decided by the limiter and by a model that remembers every series.
#include <map>
#include <optional>
#include <unordered_set>

#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "limit/window_sets.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace std::chrono_literals;
using namespace seriesgate;
using namespace seriesgate::testing;

namespace limiter_model_test {
namespace {

using series_set = std::unordered_set<std::uint64_t>;

/// The rules as DESIGN tells them, with sets of series where the gate has filters and counters.
class exact_model {
    /// One budget with its window.
    struct window {
        window_span span;
        std::uint64_t max = 0;
        series_set admitted{};
        series_set awaited{};  ///< incumbents that have not come back
        series_set refused{};
        std::uint64_t samples_refused = 0;

        [[nodiscard]] bool has_room(bool incumbent) const {
            return max == 0 || admitted.size() + (incumbent ? 0 : awaited.size()) < max;
        }
        void admit(std::uint64_t fingerprint) {
            admitted.insert(fingerprint);
            awaited.erase(fingerprint);
        }
        void begin(window_span next, const series_set& incumbents) {
            span = next;
            admitted.clear();
            awaited = incumbents;
            refused.clear();
            samples_refused = 0;
        }
    };

    std::chrono::seconds grace_;
    window hour_;
    window day_;
    series_set previous_hour_;
    series_set incumbents_;  ///< empty outside the grace
    std::optional<time_point> grace_end_;
    std::optional<time_point> leap_;
    std::map<std::uint64_t, verdict> remembered_refusals_;

  public:
    exact_model(const limit_rules& settings, time_point now)
        : grace_(settings.incumbent_grace),
          hour_{.span = hour_of(now), .max = settings.global.hourly},
          day_{.span = day_of(now), .max = settings.global.daily} {}

    [[nodiscard]] const window& hour() const { return hour_; }
    [[nodiscard]] const window& day() const { return day_; }

    std::vector<verdict> decide(const std::vector<offered_series>& offered, time_point now) {
        advance(now);
        std::vector<verdict> verdicts(offered.size());
        for (std::size_t i = 0; i < offered.size(); ++i)
            if (offered[i].admits) verdicts[i] = admit(offered[i]);
        for (std::size_t i = 0; i < offered.size(); ++i)
            if (!offered[i].admits) verdicts[i] = follow(offered[i].fingerprint);
        return verdicts;
    }

    void advance(time_point now) {
        if (now < hour_.span.end && now >= hour_.span.start - 1h) {
            if (!grace_end_ || now < *grace_end_) return;
            end_grace();
            remembered_refusals_.clear();
        } else if (now >= hour_.span.end && now < hour_.span.end + 1h) {
            begin_hour(now);
        } else if (leap_ && now >= *leap_ + clock_doubt && now < *leap_ + clock_doubt + 1h) {
            begin_hour(now);
        } else if (!leap_ || now < *leap_ - 1h || now >= *leap_ + clock_doubt) {
            leap_ = now;  // a clock that may come back
        }
    }

  private:
    void begin_hour(time_point now) {
        const bool adjacent = hour_of(now).start == hour_.span.end;
        end_grace();
        previous_hour_ = adjacent ? hour_.admitted : series_set{};
        if (adjacent && now < hour_of(now).start + grace_) {
            incumbents_ = previous_hour_;
            grace_end_ = hour_of(now).start + grace_;
        }
        hour_.begin(hour_of(now), incumbents_);
        if (day_of(now) != day_.span) day_.begin(day_of(now), incumbents_);
        remembered_refusals_.clear();
        leap_.reset();
    }

    void end_grace() {
        grace_end_.reset();
        incumbents_.clear();
        hour_.awaited.clear();
        day_.awaited.clear();
    }

    verdict admit(const offered_series& series) {
        const auto fingerprint = series.fingerprint;
        if (hour_.admitted.contains(fingerprint)) return verdict::known;
        const bool incumbent = incumbents_.contains(fingerprint);
        const bool in_day = day_.admitted.contains(fingerprint);
        const bool hour_has_room = hour_.has_room(incumbent);
        const bool day_has_room = in_day || day_.has_room(incumbent);
        if (hour_has_room && day_has_room) {
            // What was refused once stays refused until something changes for all.
            if (remembered_refusals_.contains(fingerprint)) throw std::logic_error("room for a refused series");
            hour_.admit(fingerprint);
            if (!in_day) day_.admit(fingerprint);
            return verdict::admitted;
        }
        // The reason stays the first one, though the other budget may be spent by now, too.
        const auto [refusal, first] = remembered_refusals_.try_emplace(
            fingerprint, hour_has_room ? verdict::refused_daily : verdict::refused_hourly);
        window& refusing = refusal->second == verdict::refused_hourly ? hour_ : day_;
        refusing.refused.insert(fingerprint);
        refusing.samples_refused += series.samples;
        return refusal->second;
    }

    [[nodiscard]] verdict follow(std::uint64_t fingerprint) const {
        const bool limited = hour_.max != 0 || day_.max != 0;
        const bool known = hour_.admitted.contains(fingerprint) || day_.admitted.contains(fingerprint) ||
                           previous_hour_.contains(fingerprint);
        return !limited || known ? verdict::known : verdict::unknown;
    }
};

/// A clock that mostly runs, and sometimes does what clocks do.
time_point next_time(time_point now, random_numbers& random) {
    const auto seconds_below = [&](std::uint64_t bound) {
        return std::chrono::seconds{static_cast<std::int64_t>(random.below(bound))};
    };
    switch (random.below(400)) {
        case 0:
            return now + 1h + seconds_below(4 * 3600);  // suspended
        case 1:
            return now - seconds_below(1800);  // corrected
        case 2:
            return now - 1h - seconds_below(3 * 3600);  // set back
        case 3:
            return now + 24h + seconds_below(30 * 3600);  // set forward
        case 4:
            return hour_of(now).end;  // to the nanosecond
        case 5:
            return hour_of(now).end - 1ns;
        case 6:
            return hour_of(now).start + 10min;
        case 7:
            return day_of(now).end + seconds_below(600);
        default:
            return now + seconds_below(40);
    }
}

/// A core of series that keep coming, a fringe that comes and goes with the hour, and an explosion now and then.
std::vector<offered_series> random_request(time_point now, random_numbers& random) {
    const auto epoch = static_cast<std::uint64_t>(hour_of(now).start.time_since_epoch() / 1h);
    const bool explosion = random.one_in(4);
    std::vector<offered_series> offered(1 + random.below(280));
    for (std::size_t i = 0; i < offered.size(); ++i) {
        auto& entry = offered[i];
        if (i > 0 && random.one_in(20)) {
            entry.fingerprint = offered[random.below(i)].fingerprint;  // again in the same request
        } else if (explosion) {
            entry.fingerprint = fingerprint_of(1'000'000 + epoch * 10'000 + random.below(3'000));
        } else {
            const bool fringe = random.one_in(3);
            entry.fingerprint =
                fingerprint_of(fringe ? 10'000 + epoch / 2 * 300 + random.below(600) : random.below(500));
        }
        entry.admits = !random.one_in(10);
        entry.samples = static_cast<std::uint32_t>(random.below(3));
    }
    return offered;
}

}  // namespace

TEST_CASE("a million offered entries are decided as by a model that remembers everything") {
    const auto settings = GENERATE(values<limit_rules>({
        {.global = {.hourly = 900, .daily = 0}},
        {.global = {.hourly = 0, .daily = 2'500}},
        {.global = {.hourly = 700, .daily = 3'000}},
        {.global = {.hourly = 600, .daily = 800}, .incumbent_grace = 1h},
        {.global = {.hourly = 1'000, .daily = 2'000}, .incumbent_grace = 0s},
        {.global = {.hourly = 1, .daily = 1}},
        {.global = {.hourly = 0, .daily = 0}},
    }));
    CAPTURE(settings.global.hourly, settings.global.daily, settings.incumbent_grace.count());
    const std::uint64_t entries = sanitized ? 30'000 : 150'000;

    random_numbers random{settings.global.hourly + settings.global.daily};
    time_point now = at(0);
    offering gate{settings, now};
    exact_model model{settings, now};
    std::uint64_t refused = 0;
    std::uint64_t hours = 0;
    for (std::uint64_t offered_count = 0; offered_count < entries;) {
        now = next_time(now, random);
        const auto offered = random_request(now, random);
        offered_count += offered.size();
        hours += gate.hourly().span != hour_of(now) ? 1 : 0;
        if (random.one_in(3)) {
            gate.limiter.maintain(now);
            model.advance(now);
        }
        const auto counts = gate.offer(offered, now);
        refused += counts.refused_hourly + counts.refused_daily + counts.refused_unknown;
        CAPTURE(offered_count, now.time_since_epoch().count());
        // At this fill a false positive is expected once in 10^12 lookups: not one difference is allowed.
        REQUIRE((gate.verdicts == model.decide(offered, now)));
        const auto hourly = gate.hourly();
        const auto daily = gate.daily();
        REQUIRE(hourly.span == model.hour().span);
        REQUIRE(daily.span == model.day().span);
        REQUIRE(hourly.series_current == model.hour().admitted.size());
        REQUIRE(daily.series_current == model.day().admitted.size());
        REQUIRE(hourly.samples_refused == model.hour().samples_refused);
        REQUIRE(daily.samples_refused == model.day().samples_refused);
        REQUIRE(
            std::abs(static_cast<double>(hourly.series_refused) - static_cast<double>(model.hour().refused.size())) <=
            2 + 0.03 * static_cast<double>(model.hour().refused.size()));
        REQUIRE(std::abs(static_cast<double>(daily.series_refused) - static_cast<double>(model.day().refused.size())) <=
                2 + 0.03 * static_cast<double>(model.day().refused.size()));
    }
    CAPTURE(hours, refused);
    CHECK(hours >= (sanitized ? 2 : 10));
    CHECK((refused > entries / 20) == (settings.global.hourly != 0 || settings.global.daily != 0));
}

}  // namespace limiter_model_test
