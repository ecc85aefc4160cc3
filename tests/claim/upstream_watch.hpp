/// What has come through a simulated fleet's gates, against what its limits allow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "claim/reserve.hpp"
#include "claim/simulated_store.hpp"
#include "claim/simulated_world.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Distinct series by window and budget, whichever gate they came through and whichever server has counted them. They
/// may be more than a budget has only by what a scripted loss explains.
class upstream_watch {
  public:
    using series_set = std::set<std::uint64_t>;

  private:
    struct window {
        std::map<std::uint64_t, series_set> upstream{};   // by budget
        std::map<std::uint64_t, std::uint64_t> excess{};  // by budget, see excess_of
        std::map<std::uint64_t, series_set> filed{};      // by series: the budgets it was counted in last
        series_set counted{};
        series_set at_once{};     // of a day: accepted in its first hour
        bool is_split = false;    // two masters have opened it
        series_set shared_out{};  // let pass out of shares: as long as nobody has counted them they are within those
        std::set<std::size_t> rules{};  // by which was claimed: see simulated_claims::all_rules

        /// Shares were taken, and by other rules too much may have been claimed.
        [[nodiscard]] bool is_mixed() const { return rules.size() > 1 && !shared_out.empty(); }
    };

    const simulated_world& world_;
    std::map<std::int64_t, window> hours_, days_;
    bool is_split_ = false;

  public:
    explicit upstream_watch(const simulated_world& world) : world_(world) {}

    struct filing {
        std::int64_t hour = 0;
        bool with_day = false;
        std::uint64_t series = 0;
        series_set budgets{};
    };

    /// Somebody has claimed by these rules.
    void claimed(std::int64_t hour, std::size_t rules) {
        at(hours_, hour).rules.insert(rules);
        at(days_, hour / 24).rules.insert(rules);
    }
    [[nodiscard]] bool is_claimed_otherwise(std::int64_t day, std::size_t rules) const {
        const auto found = days_.find(day);
        return found != days_.end() &&
               std::ranges::any_of(found->second.rules, [rules](std::size_t each) { return each != rules; });
    }

    /// Some server has counted it.
    void taken(const filing& as) {
        window& hour = at(hours_, as.hour);
        hour.counted.insert(as.series);
        hour.filed[as.series] = as.budgets;
        if (!as.with_day) return;
        window& day = at(days_, as.hour / 24);
        if (day.shared_out.contains(as.series) && !day.counted.contains(as.series)) day.filed.erase(as.series);
        file_in_day(as);
        day.counted.insert(as.series);
    }

    /// It has been let pass out of a share, of each budget that it may be filed under.
    void shared_out(const filing& as) {
        for (window* const each : {&at(hours_, as.hour), &at(days_, as.hour / 24)}) {
            each->filed.try_emplace(as.series, as.budgets);
            each->shared_out.insert(as.series);
        }
        flows(as.series, as.hour);
    }
    [[nodiscard]] bool is_counted_in_day(std::uint64_t series, std::int64_t hour) const {
        const auto found = days_.find(hour / 24);
        return found != days_.end() && found->second.counted.contains(series);
    }
    [[nodiscard]] bool is_shared_out(std::uint64_t series, std::int64_t hour) const {
        const auto found = hours_.find(hour);
        return found != hours_.end() && found->second.shared_out.contains(series);
    }

    /// It has been accepted at once; what it is filed under is known by the rules.
    void accepted(const filing& as, bool is_explained) {
        at(hours_, as.hour).filed.try_emplace(as.series, as.budgets);
        if (as.with_day && as.hour % 24 == 0) {
            file_in_day(as);
            at(days_, as.hour / 24).at_once.insert(as.series);
        }
        flows(as.series, as.hour, is_explained);
    }

    [[nodiscard]] bool is_counted(std::uint64_t series, std::int64_t hour) const {
        const auto found = hours_.find(hour);
        return found != hours_.end() && found->second.counted.contains(series);
    }

    /// It has come through some gate.
    void flows(std::uint64_t series, std::int64_t hour, bool is_explained = false) {
        flows_in(at(hours_, hour), series, is_explained, &series_maxima::hourly);
        flows_in(at(days_, hour / 24), series, is_explained, &series_maxima::daily);
    }

    /// It has been accepted at once and is refused now that the store is told: no budget has counted it.
    void taken_back(std::uint64_t series, std::int64_t hour) {
        for (window* const each : {&at(hours_, hour), &at(days_, hour / 24)})
            for (auto& [id, all] : each->upstream)
                if (all.contains(series)) ++each->excess[id];
    }

    /// Two masters have the same counts from here on, each with the room that there is.
    void split(const simulated_store& copy) {
        is_split_ = true;
        const std::int64_t first = copy.hour_number();
        for (auto& [hour, each] : hours_)
            if (hour >= first) add_room(each, hour == first ? &copy.hour() : nullptr, &series_maxima::hourly);
        for (auto& [day, each] : days_)
            if (day >= first / 24)
                add_room(each, day == first / 24 && copy.day() ? &*copy.day() : nullptr, &series_maxima::daily);
    }
    void end_split() { is_split_ = false; }

    /// By budget, in some windows.
    struct allowances {
        std::map<std::int64_t, std::map<std::uint64_t, std::uint64_t>> hours{}, days{};
    };
    [[nodiscard]] allowances excess() const {
        allowances made;
        for (const auto& [hour, each] : hours_)
            if (!each.excess.empty()) made.hours[hour] = each.excess;
        for (const auto& [day, each] : days_)
            if (!each.excess.empty()) made.days[day] = each.excess;
        return made;
    }

    /// Counts are whole again after a loss: the bound is what they lack of what has come through.
    struct recovered {
        const simulated_store& store;
        const allowances& before;          ///< the loss
        const series_set& waited_for;      ///< untold, and the store decides about them before any other
        std::int64_t whole_from_hour = 0;  ///< from here on nobody has gone or could not be reached: nothing is lacking
        std::int64_t whole_from_day = 0;
    };
    void settle_loss(const recovered& of) {
        const std::int64_t open = of.store.hour_number();
        for (auto& [hour, each] : hours_) {
            if (hour < open) continue;
            static const std::map<std::uint64_t, std::uint64_t> none;
            const auto before = of.before.hours.find(hour);
            lacks(each, hour == open ? &of.store.hour() : nullptr, of.waited_for, {},
                  before == of.before.hours.end() ? none : before->second,
                  hour >= of.whole_from_hour && !each.is_split);
        }
        for (auto& [day, each] : days_) {
            if (day < open / 24) continue;
            static const std::map<std::uint64_t, std::uint64_t> none;
            const auto before = of.before.days.find(day);
            // What was never told of is in no count that a gate has heard, until somebody asks about its budget.
            series_set never_told = each.at_once;
            std::erase_if(never_told, [&, hour = day * 24](std::uint64_t series) { return is_counted(series, hour); });
            lacks(each, day == open / 24 && of.store.day() ? &*of.store.day() : nullptr, of.waited_for, never_told,
                  before == of.before.days.end() ? none : before->second, day >= of.whole_from_day && !each.is_split);
        }
    }

  private:
    static constexpr std::size_t windows_max = 100;  // gates that cannot hear the store stay in an old one

    window& at(std::map<std::int64_t, window>& in, std::int64_t number) {
        const auto [found, is_new] = in.try_emplace(number);
        if (is_new) found->second.is_split = is_split_;
        while (in.size() > windows_max) in.erase(in.begin());
        return found->second;
    }

    void file_in_day(const filing& as) { at(days_, as.hour / 24).filed.try_emplace(as.series, as.budgets); }

    void flows_in(window& of, std::uint64_t series, bool is_explained, std::uint64_t series_maxima::*which) {
        const auto filed = of.filed.find(series);
        if (filed == of.filed.end()) return;
        for (const std::uint64_t id : filed->second) {
            const simulated_world::known_budget& known = world_.budgets.at(id);
            const std::uint64_t maximum = known.maxima.*which;
            if (of.upstream[id].insert(series).second && is_explained) ++of.excess[id];
            if (!known.is_steady && (which == &series_maxima::daily || !of.counted.contains(series))) continue;
            const std::uint64_t excess = store_model::window::found(of.excess, id) + (of.is_split ? maximum : 0) +
                                         (of.is_mixed() ? shares_max * share_of(maximum, world_.reserve) : 0);
            // By some rules a series may count here, and by those that it was counted by elsewhere.
            const auto counts_here = [&](std::uint64_t each) {
                return known.is_steady || (of.counted.contains(each) && of.filed.at(each).contains(id));
            };
            const auto count = static_cast<std::uint64_t>(std::ranges::count_if(of.upstream[id], counts_here));
            require(maximum == 0 || count <= maximum + excess, "more series upstream than a budget has");
        }
    }

    void add_room(window& to, const store_model::window* counted, std::uint64_t series_maxima::*which) {
        for (const auto& [id, known] : world_.budgets) {
            const std::uint64_t count = counted == nullptr ? 0 : counted->count(id);
            to.excess[id] += known.maxima.*which - std::min(known.maxima.*which, count);
        }
    }

    static void lacks(window& in, const store_model::window* counted, const series_set& waited_for,
                      const series_set& never_told, const std::map<std::uint64_t, std::uint64_t>& before,
                      bool is_whole) {
        for (const auto& [budget, all] : in.upstream) {
            const std::uint64_t id = budget;
            const auto is_untold = [&waited_for](std::uint64_t series) { return waited_for.contains(series); };
            // What was let pass out of a share may have been counted in the overflow budget in place of this one.
            const auto is_uncounted = [&](std::uint64_t series) {
                const bool is_counted = in.counted.contains(series) && in.filed.at(series).contains(id);
                return is_untold(series) || (in.shared_out.contains(series) && !is_counted);
            };
            const auto is_unheard = [&never_told](std::uint64_t series) { return never_told.contains(series); };
            const auto told = all.size() - static_cast<std::size_t>(std::ranges::count_if(all, is_uncounted));
            const std::uint64_t count = counted == nullptr ? 0 : counted->count(id);
            const std::uint64_t missing = told > count ? told - count : 0;
            const std::uint64_t allowed = store_model::window::found(before, id);
            const auto unheard = static_cast<std::uint64_t>(std::ranges::count_if(all, is_unheard));
            require(!is_whole || missing <= allowed + unheard,
                    "counts are whole again and lack what living gates have heard");
            if (missing + allowed != 0) in.excess[id] = std::max(missing, allowed);
        }
    }
};

}  // namespace seriesgate::testing
