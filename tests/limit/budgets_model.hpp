/// The rules of DESIGN.md with sets of series where the gate has filters: exact, slow and simple.
#pragma once

#include "limit/commit_state.hpp"
#include "limit/limiter.hpp"
#include "limit/model_book.hpp"

namespace seriesgate::testing {

/// What is known about a series that is not in the hour's set. A filter may err, so a test can say what it said.
struct recollection {
    bool in_day = false;
    bool incumbent = false;
    bool beyond_exemption = false;  ///< in the hour before: it is exempt, and found no room as such
};

class budgets_model {
  public:
    /// All that happened in one window.
    struct window {
        window_span span{};
        series_set admitted{};
        series_set refused{};
        std::uint64_t samples_refused = 0;
        std::uint64_t over_limit = 0;
        series_set begun{};                                  ///< histograms
        std::map<std::uint64_t, std::uint64_t> completed{};  ///< series of one admitted without room
        series_set cut{};                                    ///< refused though their histogram had begun
        series_set beyond_exemption{};                       ///< exempt, and admitted as others
    };

    budgets_model(const limit_rules& settings, time_point now)
        : book_(settings), hour_{.span = hour_of(now)}, day_{.span = day_of(now)} {}

    /// One request: first what is known or was refused before it, then what is new, then the markers.
    std::vector<verdict> decide(std::span<const offered_series> offered, time_point now, std::string_view tenant,
                                shown_labels& labels) {
        advance(now);
        std::vector<verdict> verdicts(offered.size(), verdict::known);
        std::vector<std::size_t> unsure;
        for (std::size_t i = 0; i < offered.size(); ++i) {
            if (!offered[i].admits) continue;
            if (knows_in_hour(offered[i])) {
                if (counts_active) unsure.push_back(i);
            } else if (remembers_refusal(offered[i]))
                verdicts[i] = refuse(offered[i], verdict::unknown);
            else
                unsure.push_back(i);
        }
        const bool whole = book_.settings().whole_histograms;
        for (const bool totals : {false, true})
            for (const std::size_t i : unsure) {
                const histogram_family family = whole ? labels.family(i, labels.entries[i]) : histogram_family{};
                if (family.is_total != totals) continue;
                if (counts_active && knows_in_hour(offered[i]))
                    make_budgets(offered[i], tenant, labels.entries[i]);
                else if (!knows_in_hour(offered[i]))
                    verdicts[i] = admit(offered[i], tenant, labels.entries[i], recall(offered[i]), family);
            }
        for (std::size_t i = 0; i < offered.size(); ++i)
            if (!offered[i].admits) verdicts[i] = resolve_stale(offered[i], tenant, labels.entries[i]);
        return verdicts;
    }

    /// A series that becomes active has budgets, though it may count in no window of them.
    bool counts_active = false;
    void make_budgets(const offered_series& series, std::string_view tenant, std::span<const label_view> labels) {
        const auto exempt = book_.exempt_place_of(tenant, labels);
        const bool in_exemption = exempt && !hour_.beyond_exemption.contains(series.fingerprint);
        for (const auto& each : in_exemption ? std::vector{*exempt} : book_.places_of(tenant, labels)) book_.make(each);
    }

    [[nodiscard]] bool knows_in_hour(const offered_series& series) const {
        return hour_.admitted.contains(series.fingerprint);
    }
    [[nodiscard]] bool remembers_refusal(const offered_series& series) const {
        return refusals_.contains(series.fingerprint);
    }
    [[nodiscard]] recollection recall(const offered_series& series) const {
        return {.in_day = day_.admitted.contains(series.fingerprint),
                .incumbent = incumbents_.contains(series.fingerprint),
                .beyond_exemption = incumbents_beyond_.contains(series.fingerprint)};
    }

    /// Where it counts if it is admitted.
    struct counted_in {
        std::vector<model_book::place> places;
        bool in_exemption = false;
        bool beyond_exemption = false;
    };
    counted_in counted_in_of(std::string_view tenant, std::span<const label_view> labels, recollection recalled) {
        const auto exempt = book_.exempt_place_of(tenant, labels);
        auto as_others = book_.places_of(tenant, labels);
        if (!exempt) return {.places = std::move(as_others)};
        const auto has_room = [&](const std::vector<model_book::place>& places, bool enforcing) {
            const auto [hour, day] = spent(places, recalled, enforcing);
            return !hour.any && !day.any;
        };
        const bool returns = recalled.incumbent && recalled.beyond_exemption && has_room(as_others, true);
        if (!has_room({*exempt}, false) || returns) return {.places = std::move(as_others), .beyond_exemption = true};
        return {.places = {*exempt}, .in_exemption = true};
    }

    /// What admit() would say.
    verdict verdict_on(std::string_view tenant, std::span<const label_view> labels, recollection recalled,
                       std::uint64_t family = 0) {
        const auto [hour_spent, day_spent] = spent(counted_in_of(tenant, labels, recalled).places, recalled);
        const bool hour_refuses = hour_spent.any && !completes(hour_spent, hour_, family);
        const bool day_refuses = day_spent.any && !completes(day_spent, day_, family);
        return hour_refuses ? verdict::refused_hourly : day_refuses ? verdict::refused_daily : verdict::admitted;
    }

    /// Enforced budgets without room in a window.
    struct spent_budgets {
        bool any = false;
        bool without_margin = false;  ///< one of them has no margin, either
        void add(bool has_margin) {
            any = true;
            without_margin |= !has_margin;
        }
    };

    /// In the hour and in the day.
    std::pair<spent_budgets, spent_budgets> spent(const std::vector<model_book::place>& places, recollection recalled,
                                                  bool enforcing = true) {
        spent_budgets of_hour;
        spent_budgets of_day;
        for (const auto& each : places) {
            const model_pair* pair = book_.find(each);
            if (pair == nullptr && !recalled.incumbent) {
                const auto [hour, day] = book_.spent_for_new_series(each);
                if (hour) of_hour.add(false);
                if (day && !recalled.in_day) of_day.add(false);
            }
            if (pair == nullptr || (enforcing && pair->mode != limit_mode::enforce)) continue;
            if (!pair->hourly.has_room(recalled.incumbent)) of_hour.add(pair->hourly.has_margin());
            if (!recalled.in_day && !pair->daily.has_room(recalled.incumbent)) of_day.add(pair->daily.has_margin());
        }
        return {of_hour, of_day};
    }

    /// Whether one more series of a histogram is admitted without room.
    [[nodiscard]] bool completes(const spent_budgets& spent_in, const window& in, std::uint64_t family) const {
        const auto found = in.completed.find(family);
        return spent_in.any && !spent_in.without_margin && in.begun.contains(family) &&
               (found == in.completed.end() || found->second < book_.settings().histogram_series_max);
    }

    verdict admit(const offered_series& series, std::string_view tenant, std::span<const label_view> labels,
                  recollection recalled, const histogram_family& of = {}) {
        const std::uint64_t fingerprint = series.fingerprint;
        const auto [places, in_exemption, beyond_exemption] = counted_in_of(tenant, labels, recalled);
        const std::uint64_t family = in_exemption ? 0 : of.fingerprint;
        const bool begun_in_hour = hour_.begun.contains(family);
        const bool begun_in_day = day_.begun.contains(family);
        const auto [hour_spent, day_spent] = spent(places, recalled);
        const bool completes_hour = completes(hour_spent, hour_, family);
        const bool completes_day = completes(day_spent, day_, family);
        const verdict decided = verdict_on(tenant, labels, recalled, family);
        if (beyond_exemption) note_exempt_demand(fingerprint, *book_.exempt_place_of(tenant, labels), recalled);
        for (const auto& each : places) {
            model_pair* const pair = book_.find(each);
            if (pair == nullptr) continue;  // one that has counted nothing has room
            const bool enforced = pair->mode == limit_mode::enforce;
            if (!pair->hourly.has_room(recalled.incumbent) && !(enforced && completes_hour))
                pair->hourly.refused.insert(fingerprint);
            if (!recalled.in_day && !pair->daily.has_room(recalled.incumbent) && !(enforced && completes_day))
                pair->daily.refused.insert(fingerprint);
        }
        if (family != 0 && !begun_in_hour && !recalled.incumbent)
            if (const auto first = refusals_.find(family); first != refusals_.end())
                return refuse(series, first->second);
        if (!is_accepted(decided)) {
            if (family != 0 && !begun_in_hour) refusals_.try_emplace(family, decided);
            if (hour_spent.any && !completes_hour && begun_in_hour) hour_.cut.insert(fingerprint);
            if (day_spent.any && !completes_day && begun_in_day) day_.cut.insert(fingerprint);
            return refuse(series, decided);
        }
        bool over_hour = false;
        bool over_day = false;
        for (const auto& each : places) {
            model_pair& pair = book_.make(each);
            const bool enforced = pair.mode == limit_mode::enforce;
            over_hour |= pair.hourly.take(fingerprint, recalled.incumbent, enforced);
            if (!recalled.in_day) over_day |= pair.daily.take(fingerprint, recalled.incumbent, enforced);
        }
        hour_.over_limit += over_hour ? 1 : 0;
        day_.over_limit += over_day ? 1 : 0;
        if (completes_hour) ++hour_.completed[family];
        if (completes_day) ++day_.completed[family];
        if (family != 0) hour_.begun.insert(family);
        if (family != 0) day_.begun.insert(family);
        if (beyond_exemption) hour_.beyond_exemption.insert(fingerprint);
        hour_.admitted.insert(fingerprint);
        if (!recalled.in_day) day_.admitted.insert(fingerprint);
        return decided;
    }

    /// Forgets a leap from which the clock has come back.
    void maintain(time_point now) {
        advance(now);
        if (now < hour_.span.end && now >= hour_.span.start - 1h) leap_.reset();
    }

    void advance(time_point now) {
        if (now < hour_.span.end && now >= hour_.span.start - 1h) {
            if (!grace_end_ || now < *grace_end_) return;
            end_grace();
            refusals_.clear();
        } else if (now >= hour_.span.end && now < hour_.span.end + 1h) {
            begin_hour(now);
        } else if (leap_ && now >= *leap_ + clock_doubt && now < *leap_ + clock_doubt + 1h) {
            begin_hour(now);
        } else if (!leap_ || now < *leap_ - 1h || now >= *leap_ + clock_doubt) {
            leap_ = now;
        }
    }

    void reconfigure(const limit_rules& settings) {
        book_.reconfigure(settings);
        if (grace_end_) grace_end_ = hour_.span.start + std::max(settings.incumbent_grace, std::chrono::seconds{1});
        refusals_.clear();
    }

    /// A restart with a snapshot: only the exact reasons of refusals are forgotten, and what cut histograms.
    void restart(time_point now) {
        book_.rule();
        refusals_.clear();
        hour_.cut.clear();
        day_.cut.clear();
        leap_.reset();
        advance(now);
        if (leap_) begin_hour(now);
    }

    [[nodiscard]] const window& hour() const { return hour_; }
    [[nodiscard]] const window& day() const { return day_; }
    [[nodiscard]] const model_book& book() const { return book_; }
    [[nodiscard]] model_book& book() { return book_; }

  private:
    model_book book_;
    window hour_;
    window day_;
    series_set previous_hour_;
    series_set incumbents_;  ///< empty outside the grace
    series_set incumbents_beyond_;
    std::optional<time_point> grace_end_;
    std::optional<time_point> leap_;             ///< to where the clock has leapt, if that is not believed yet
    std::map<std::uint64_t, verdict> refusals_;  ///< why, since something changed for all

    void note_exempt_demand(std::uint64_t fingerprint, const model_book::place& at, recollection recalled) {
        model_pair* const pair = book_.find(at);
        if (pair == nullptr) return;
        if (!pair->hourly.has_room(recalled.incumbent)) pair->hourly.refused.insert(fingerprint);
        if (!recalled.in_day && !pair->daily.has_room(recalled.incumbent)) pair->daily.refused.insert(fingerprint);
    }
    verdict refuse(const offered_series& series, verdict reason) {
        const verdict first = refusals_.try_emplace(series.fingerprint, reason).first->second;
        window& refusing = first == verdict::refused_hourly ? hour_ : day_;
        refusing.refused.insert(series.fingerprint);
        refusing.samples_refused += series.samples;
        return first;
    }

    verdict resolve_stale(const offered_series& series, std::string_view tenant, std::span<const label_view> labels) {
        const auto fingerprint = series.fingerprint;
        const bool known = hour_.admitted.contains(fingerprint) || day_.admitted.contains(fingerprint) ||
                           previous_hour_.contains(fingerprint);
        return known || !book_.is_limited(tenant, labels) ? verdict::known : verdict::unknown;
    }
    void begin_hour(time_point now) {
        const bool adjacent = hour_of(now).start == hour_.span.end;
        const bool day_ends = day_of(now) != day_.span;
        const auto grace_end = hour_of(now).start + book_.settings().incumbent_grace;
        const bool in_grace = adjacent && now < grace_end;
        end_grace();
        previous_hour_ = adjacent ? std::move(hour_.admitted) : series_set{};
        if (in_grace) {
            incumbents_ = previous_hour_;
            incumbents_beyond_ = std::move(hour_.beyond_exemption);
            grace_end_ = grace_end;
        }
        hour_ = {.span = hour_of(now)};
        if (day_ends) day_ = {.span = day_of(now)};
        book_.begin_hour(adjacent, in_grace, day_ends);
        leap_.reset();
        refusals_.clear();
    }
    void end_grace() {
        grace_end_.reset();
        incumbents_.clear();
        book_.end_grace();
    }
};

}  // namespace seriesgate::testing
