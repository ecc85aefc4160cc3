/// Gates that call the store of a fleet at random, and what must hold whatever they call.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fleet/shared_store.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// What the calls of one scene have in common.
struct shared_scene {
    std::uint64_t seed = 0;
    bool with_day = true;
    bool is_steady = true;    ///< maxima and limits never change
    bool has_losses = false;  ///< the store is emptied, restarted, or its keys expire
    bool has_wrong_clocks = false;
    bool completes = false;    ///< some series complete histograms
    bool observes = false;     ///< some budgets have no maximum for a while
    bool has_refills = false;  ///< gates refill windows, and pass series of the hour before
};

/// A fleet of made-up gates: few series and small budgets, so that everything happens often.
class shared_random_calls {
    static constexpr std::uint64_t gates_count = 4;
    static constexpr std::uint64_t tenants = 3, groups = 11, other_groups = 4, series_of_group = 6;
    static constexpr std::uint64_t groups_share = 10, others_share = 11, other_numbers = 12;  // of limits
    static constexpr std::int64_t first_hour = 1'139'568 + 21;  // 2100-01-01; a day ends soon

    shared_scene scene_;
    random_numbers random_;
    std::chrono::seconds since_{0};
    std::chrono::seconds store_offset_{0};
    std::vector<std::chrono::seconds> gate_offsets_ = std::vector<std::chrono::seconds>(gates_count);
    std::string server_ = "s0";
    std::uint64_t servers_ = 1;
    std::string epoch_;
    open_windows known_{};
    std::vector<gate_heard_of> gates_;
    std::uint64_t done_ = gates_count + 1;  ///< heartbeats of are_done_at_once()
    std::uint64_t observed_ = 0;            ///< some budgets are, by this number's bits

  public:
    explicit shared_random_calls(const shared_scene& of) : scene_(of), random_(of.seed) {}

    [[nodiscard]] time_point now() const { return time_point{std::chrono::hours{first_hour} + since_}; }
    [[nodiscard]] time_point stores_clock() const { return now() + store_offset_; }
    [[nodiscard]] std::int64_t hour() const {
        return std::chrono::floor<std::chrono::hours>(now()).time_since_epoch().count();
    }
    [[nodiscard]] const std::string& server() const { return server_; }
    [[nodiscard]] const std::string& epoch() const { return epoch_; }
    [[nodiscard]] bool one_in(std::uint64_t n) { return random_.one_in(n); }
    [[nodiscard]] std::uint64_t below(std::uint64_t n) { return random_.below(n); }
    void hear(const open_windows& of) { known_ = of; }
    void hear(const heartbeat_answer& of) {
        known_ = of.state.windows;
        epoch_ = of.state.epoch;
        gates_ = of.gates;
    }
    void restart_store() {
        server_ = "s" + std::to_string(servers_++);
        if (one_in(2)) done_ = 0;
    }
    /// After a loss all gates have told at once, and then one of them that had not known of it.
    [[nodiscard]] bool are_done_at_once() const { return done_ <= gates_count; }

    void pass_time(bool slowly) {
        const std::int64_t into = since_.count() % 3600;
        if (are_done_at_once()) {
            since_ += std::chrono::seconds{random_.below(2)};
        } else if (slowly) {
            since_ += std::chrono::seconds{random_.below(3)};
        } else if (random_.one_in(40)) {
            since_ += std::chrono::seconds{3600 - into - (random_.one_in(3) ? 4 : 0)};
        } else if (random_.one_in(400)) {
            since_ += std::chrono::hours{1 + random_.below(3)};
        } else {
            since_ += std::chrono::seconds{random_.below(90)};
        }
        if (!scene_.has_wrong_clocks) return;
        if (random_.one_in(60)) store_offset_ = wrong_clock();
        if (random_.one_in(60)) gate_offsets_[random_.below(gates_count)] = wrong_clock();
    }

    gate_terms next_terms() {
        const std::size_t gate = random_.below(gates_count);
        gate_terms terms{.gate = std::string(1, static_cast<char>('a' + gate)),
                         .run = gate,
                         .clock = now() + gate_offsets_[gate],
                         .epoch = epoch_,
                         .hour = hour(),
                         .generation = known_.generation,
                         .buckets = known_.buckets,
                         .with_day = scene_.with_day,
                         .limits = {1, 2, 3, 4, groups_share, others_share},
                         .room = random_.below(3) * 300 + 1,
                         .day_room = random_.below(3) * 700 + 1};
        if (random_.one_in(60)) terms.hour += static_cast<std::int64_t>(random_.below(4)) - 2;
        if (random_.one_in(60)) terms.epoch = "other";
        if (random_.one_in(60)) terms.generation += 1;
        if (!known_.keeps_places && random_.one_in(2)) terms.buckets.before = 0;
        for (std::uint32_t* count : {&terms.buckets.hour, &terms.buckets.day, &terms.buckets.before})
            if (random_.one_in(100)) *count = random_.one_in(2) ? 0 : 1u << random_.below(5);
        if (!scene_.is_steady && random_.one_in(12)) terms.limits.push_back(other_numbers + random_.below(3));
        if (!scene_.is_steady && random_.one_in(10)) terms.with_day = !terms.with_day;
        return terms;
    }

    store_call next_call(const gate_terms& terms) {
        store_call asked{.kind = next_kind()};
        asked.budgets = budgets(terms);
        for (std::uint64_t runs = random_.below(7); runs-- > 0;) {
            const std::uint64_t group = random_.below(groups);
            const bool is_of_others = random_.one_in(2);
            series_run run{.series = static_cast<std::uint32_t>(1 + random_.below(8))};
            run.budgets = {0, static_cast<std::uint8_t>(1 + group % tenants),
                           static_cast<std::uint8_t>(1 + tenants + group)};
            if (!scene_.is_steady && random_.one_in(8))  // the budget of all groups beyond groups_max, named itself
                run.budgets.back() = static_cast<std::uint8_t>(1 + tenants + groups + other_groups);
            if (is_of_others)
                run.budgets.push_back(static_cast<std::uint8_t>(1 + tenants + groups + group % other_groups));
            set_windows(run, asked.kind);
            const auto first = static_cast<std::ptrdiff_t>(asked.fingerprints.size());
            for (std::uint32_t i = 0; i < run.series; ++i)
                asked.fingerprints.push_back(
                    fingerprint_of(group + groups * (2 * random_.below(series_of_group / 2) + (is_of_others ? 1 : 0))));
            if (asked.kind != call_kind::claim) {  // in the order of the buckets, each once
                std::sort(asked.fingerprints.begin() + first, asked.fingerprints.end());
                asked.fingerprints.erase(std::unique(asked.fingerprints.begin() + first, asked.fingerprints.end()),
                                         asked.fingerprints.end());
                run.series = static_cast<std::uint32_t>(std::ssize(asked.fingerprints) - first);
            }
            asked.runs.push_back(std::move(run));
        }
        return asked;
    }

    heartbeat next_heartbeat() {
        const std::size_t gate = random_.below(gates_count);
        heartbeat of{.gate = std::string(1, static_cast<char>('a' + gate)),
                     .fingerprints = random_.one_in(200) ? "others" : "ours",
                     .version = random_.one_in(2) ? "1.0" : "1.1",
                     .clock = now() + gate_offsets_[gate],
                     .epoch = random_.one_in(30) ? "" : epoch_,
                     .hour = known_.hour - (random_.one_in(15) ? 1 : 0),
                     .generation = known_.generation,
                     .is_told = !random_.one_in(6),
                     .has_lapsed = random_.one_in(20),
                     .grace = std::chrono::seconds{600},
                     .leaves = random_.one_in(40)};
        if (are_done_at_once()) {
            of.gate = std::string(1, static_cast<char>('a' + done_++ % gates_count));
            of.epoch = epoch_;
            of.leaves = false;
            return of;
        }
        if (random_.one_in(15)) of.gate = "leaver", of.leaves = true;  // and does not come back
        if (random_.one_in(3)) of.refilled = random_.below(4);
        if (random_.one_in(4)) of.heard_of = gates_;
        if (random_.one_in(12)) of.heard_of.push_back({.name = "gone", .hour = hour() - 1, .version = ""});
        return of;
    }

  private:
    std::chrono::seconds wrong_clock() {
        constexpr std::int64_t offsets[] = {0, 0, 0, 40, -100, 250, -5'400, 3'700, 86'400};
        return std::chrono::seconds{offsets[random_.below(9)]};
    }

    call_kind next_kind() {
        if (scene_.has_refills && random_.one_in(5)) return call_kind::refill;
        return random_.one_in(3) ? call_kind::pass : call_kind::claim;
    }

    void set_windows(series_run& run, call_kind kind) {
        if (random_.one_in(10)) {
            run.windows = {};
        } else if (kind == call_kind::claim) {
            run.completes = scene_.completes && random_.one_in(3);
        } else if (scene_.has_refills && (kind == call_kind::refill || random_.one_in(4))) {
            run.windows = {.hour = random_.one_in(2), .day = random_.one_in(2), .before = true};
        }
    }

    std::uint64_t limit(std::uint64_t maximum) {
        return scene_.is_steady || !random_.one_in(20) ? maximum : random_.below(maximum + 2);
    }

    std::vector<shared_budget> budgets(const gate_terms& terms) {
        if (scene_.observes && random_.one_in(30)) observed_ = random_.below(8);
        const auto number_of = [&](std::uint64_t usual) {  // or the other one that this gate has in its place
            constexpr std::uint64_t replaced[] = {3, groups_share, others_share};
            const std::uint64_t last = terms.limits.back();
            return last >= other_numbers && replaced[last - other_numbers] == usual ? last : usual;
        };
        const series_maxima bound{.hourly = scene_.completes ? 2u : 0u, .daily = scene_.completes ? 1u : 0u};
        std::vector<shared_budget> all;
        all.push_back(
            {.id = ~0ull, .limit = 1, .maxima = {.hourly = limit(25), .daily = limit(40)}, .completions = bound});
        for (std::uint64_t i = 0; i < tenants; ++i)
            all.push_back({.id = fingerprint_of(100 + i),
                           .limit = 2,
                           .maxima = {.hourly = limit(i * 6), .daily = limit(15)},
                           .completions = bound});
        for (std::uint64_t i = 0; i < groups; ++i)
            all.push_back({.id = fingerprint_of(200 + i),
                           .limit = number_of(3),
                           .maxima = {.hourly = limit(3), .daily = limit(5)},
                           .completions = bound,
                           .sharing = number_of(groups_share),
                           .overflow_id = 9,
                           .group_set = 7,
                           .groups_max = limit(6),
                           .overflow_maxima = {.hourly = limit(4), .daily = limit(6)},
                           .overflow_completions = bound});
        for (std::uint64_t i = 0; i < other_groups; ++i)
            all.push_back({.id = fingerprint_of(300 + i),
                           .limit = 4,
                           .maxima = {.hourly = limit(7), .daily = limit(0)},
                           .completions = {},
                           .sharing = number_of(others_share),
                           .overflow_id = 10,
                           .group_set = i == 0 ? 0u : 8u,
                           .groups_max = 1,
                           .overflow_maxima = {.hourly = limit(9), .daily = limit(11)},
                           .overflow_completions = {}});
        if (!scene_.is_steady)
            all.push_back({.id = 9,
                           .limit = number_of(3),
                           .maxima = {.hourly = limit(4), .daily = limit(6)},
                           .completions = bound});
        for (std::size_t i = 0; i < all.size(); ++i)
            if ((observed_ >> i % 3 & 1) != 0) all[i].maxima = all[i].overflow_maxima = {};
        return all;
    }
};

/// Knows calls and answers only, and what promises follow for the next ones.
class promise_watch {
    using series_by_id = std::map<std::uint64_t, std::set<std::uint64_t>>;
    struct window {
        std::set<std::uint64_t> series{};
        series_by_id counted{};
    };

    bool is_strict_;  ///< limits never change, nothing is completed: the places are known exactly
    bool is_known_ = false;
    std::int64_t hour_ = -1, day_ = -1;
    window hour_series_, before_, day_series_;

  public:
    std::map<std::string, int> seen{};

    explicit promise_watch(const shared_scene& of)
        : is_strict_(of.is_steady && !of.completes && !of.observes && !of.has_refills) {}

    /// What is known of the store's content is not so any more.
    void lose() {
        hour_ = day_ = -1;
        hour_series_ = before_ = day_series_ = {};
        is_known_ = false;
    }

    void check(const store_call& asked, const gate_terms& terms, const store_answer& answer, bool was_refilling) {
        if (answer.status != store_status::decided) {
            static const char* const names[] = {"decided", "closed", "moved", "other epoch"};
            ++seen[names[static_cast<int>(answer.status)]];
            return;
        }
        ++seen["decided"];
        turn(answer.windows.hour);
        std::size_t at = 0;
        for (const series_run& run : asked.runs)
            for (std::uint32_t i = 0; i < run.series; ++i, ++at)
                if (run.windows.any()) check_one(asked, run, terms, answer, at, was_refilling);
        check_kept(asked, answer);
    }

  private:
    static void require(bool holds, const char* what) {
        if (!holds) throw broken_promise{what};
    }

    void turn(std::int64_t hour) {
        if (hour_ == hour) return;
        before_ = std::exchange(hour_series_, {});
        if (hour != hour_ + 1) before_ = {};
        is_known_ = hour_ >= 0;
        hour_ = hour;
        if (std::exchange(day_, hour / 24) != hour / 24) day_series_ = {};
    }

    static std::uint64_t count(const window& in, std::uint64_t id) {
        const auto at = in.counted.find(id);
        return at == in.counted.end() ? 0 : at->second.size();
    }
    /// Series of the hour before that have not returned.
    [[nodiscard]] std::uint64_t away(std::uint64_t id) const {
        const auto at = before_.counted.find(id);
        if (at == before_.counted.end()) return 0;
        return static_cast<std::uint64_t>(
            std::count_if(at->second.begin(), at->second.end(),
                          [this](std::uint64_t each) { return !hour_series_.series.contains(each); }));
    }

    void check_one(const store_call& asked, const series_run& run, const gate_terms& terms, const store_answer& answer,
                   std::size_t at, bool was_refilling) {
        using enum store_outcome;
        const std::uint64_t series = asked.fingerprints[at];
        const store_outcome outcome = answer.series[at].outcome;
        static const char* const names[] = {"known", "taken", "completed", "refused", "waits", "unknown"};
        ++seen[names[static_cast<int>(outcome)]];
        const bool is_incumbent = before_.series.contains(series);
        const bool was_counted = hour_series_.series.contains(series);
        if (asked.kind != call_kind::claim) {
            require(outcome == known || outcome == taken, "a pass was refused");
            require(!run.windows.hour || was_counted || outcome == taken, "a pass was not counted");
        } else if (was_counted) {
            require(outcome == known, "a series that was counted is not known");
        } else if (outcome == refused || outcome == waits) {
            if (is_incumbent && answer.windows.keeps_places) check_refused_incumbent(asked, run, answer);
        } else if (outcome == taken && !is_incumbent) {
            require(!was_refilling || !needs_room(asked, run, terms, answer, series),
                    "a new series did not wait for a refill");
            check_new(asked, run, terms, answer, series);
        }
        if (outcome != taken && outcome != completed) return;
        if (run.windows.hour) enter(hour_series_, asked, run, answer, series);
        if (run.windows.before && answer.windows.buckets.before != 0) enter(before_, asked, run, answer, series);
        if (run.windows.day && terms.with_day) enter(day_series_, asked, run, answer, series);
        if (is_incumbent && outcome == taken) ++seen["returned"];
    }

    static std::uint64_t id_of(const store_call& asked, const store_answer& answer, std::uint8_t place) {
        return answer.budgets[place].is_overflow ? asked.budgets[place].overflow_id : asked.budgets[place].id;
    }
    static series_maxima maxima_of(const store_call& asked, const store_answer& answer, std::uint8_t place) {
        return answer.budgets[place].is_overflow ? asked.budgets[place].overflow_maxima : asked.budgets[place].maxima;
    }
    [[nodiscard]] bool needs_room(const store_call& asked, const series_run& run, const gate_terms& terms,
                                  const store_answer& answer, std::uint64_t series) const {
        const bool is_new_in_day = terms.with_day && !day_series_.series.contains(series);
        return std::any_of(run.budgets.begin(), run.budgets.end(), [&](std::uint8_t place) {
            const series_maxima maxima = maxima_of(asked, answer, place);
            return maxima.hourly != 0 || (is_new_in_day && maxima.daily != 0);
        });
    }

    /// Series that completed a histogram have been counted, too: only then a count is above its maximum.
    void check_new(const store_call& asked, const series_run& run, const gate_terms& terms, const store_answer& answer,
                   std::uint64_t series) {
        ++seen["new series"];
        for (const std::uint8_t place : run.budgets) {
            const std::uint64_t id = id_of(asked, answer, place);
            const series_maxima maxima = maxima_of(asked, answer, place);
            const std::uint64_t kept = answer.windows.keeps_places && is_strict_ ? away(id) : 0;
            require(maxima.hourly == 0 || count(hour_series_, id) + kept < maxima.hourly,
                    "a new series was admitted at or above an hourly maximum");
            if (!terms.with_day || maxima.daily == 0 || day_series_.series.contains(series)) continue;
            require(count(day_series_, id) + (hour_ % 24 == 0 ? kept : 0) < maxima.daily,
                    "a new series was admitted at or above a daily maximum");
        }
    }

    void check_refused_incumbent(const store_call& asked, const series_run& run, const store_answer& answer) {
        ++seen["incumbents refused"];
        require(std::any_of(run.budgets.begin(), run.budgets.end(),
                            [&](std::uint8_t place) {
                                const series_maxima maxima = maxima_of(asked, answer, place);
                                const std::uint64_t before = count(before_, id_of(asked, answer, place));
                                return (maxima.hourly != 0 && before > maxima.hourly) ||
                                       (maxima.daily != 0 && before > maxima.daily);
                            }),
                "a series of the hour before was refused while its place is kept");
    }

    void check_kept(const store_call& asked, const store_answer& answer) {
        if (!answer.windows.keeps_places) return;
        for (std::uint8_t place = 0; place < asked.budgets.size(); ++place) {
            const std::uint64_t kept = answer.budgets[place].kept;
            if (kept == all_kept) ++seen["all kept"];
            if (kept != 0 && kept != all_kept) ++seen["kept"];
            if (answer.budgets[place].is_overflow) ++seen["overflow"];
            if (is_strict_ && kept != all_kept && asked.budgets[place].group_set == 0)
                require(kept == away(id_of(asked, answer, place)), "kept places are not those that are still away");
        }
    }

    static void enter(window& in, const store_call& asked, const series_run& run, const store_answer& answer,
                      std::uint64_t series) {
        if (!in.series.insert(series).second) return;
        for (const std::uint8_t place : run.budgets) in.counted[id_of(asked, answer, place)].insert(series);
    }
};

/// What a scene is held to.
enum class shared_checks : std::uint8_t { model_and_promises, promises_alone };
inline constexpr shared_checks promises_alone = shared_checks::promises_alone;

/// Some steps of a scene, with all checks. Throws a difference or a broken_promise.
/// @return how often what has happened.
inline std::map<std::string, int> run_shared_scene(const shared_scene& of, int steps, const script_change& change = {},
                                                   shared_checks held_to = shared_checks::model_and_promises) {
    shared_store_and_model both{change, held_to == promises_alone};
    shared_random_calls gates{of};
    promise_watch watch{of};
    std::uint64_t generation = 0;
    for (int step = 0; step < steps; ++step) {
        gates.pass_time(both.model().is_refilling());
        if (of.has_losses && gates.one_in(150)) {
            switch (gates.below(4)) {
                case 0:
                    both.empty();
                    watch.lose();
                    break;
                case 1:
                    gates.restart_store();
                    break;
                case 2:
                    both.expire_hour();
                    break;
                default:
                    both.expire_before();
            }
        }
        if (gates.are_done_at_once() || gates.one_in(3) || gates.epoch().empty() ||
            (both.model().epoch() != gates.epoch() && gates.one_in(2))) {
            const heartbeat_answer answer = both.beat(gates.next_heartbeat(), gates.server(), gates.stores_clock());
            if (answer.state.status == heartbeat_status::heard) gates.hear(answer);
            if (answer.state.windows.hour >= 0 && answer.state.windows.buckets.before != 0 &&
                !answer.state.windows.keeps_places)
                ++watch.seen["lapsed"];
        }
        const gate_terms terms = gates.next_terms();
        const store_call asked = gates.next_call(terms);
        const bool was_refilling = both.model().is_refilling();
        const store_answer answer = both.decide(asked, terms, gates.server(), gates.stores_clock());
        if (std::exchange(generation, answer.windows.generation) != answer.windows.generation) watch.lose();
        watch.check(asked, terms, answer, was_refilling);
        if (answer.status != store_status::other_epoch) gates.hear(answer.windows);
        if (step % 20 == 0)
            both.read_feed(gates.epoch(),
                           both.model().fed() - std::min<std::uint64_t>(gates.below(200), both.model().fed()),
                           gates.server(), gates.stores_clock());
        if (step % 100 == 99) both.compare();
    }
    both.compare();
    return watch.seen;
}

}  // namespace seriesgate::testing
