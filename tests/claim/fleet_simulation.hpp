/// A fleet in one thread: gates with all that decides in them, the model of the store between them, and a network that
/// loses and delays what it likes. One seed gives one history.
#pragma once

#include <stdexcept>

#include "claim/feed_follower.hpp"
#include "claim/gate_session.hpp"
#include "claim/store_questions.hpp"
#include "claim/untold_walker.hpp"
#include "fleet/shared_store_model.hpp"
#include "limit/labelled.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"
#include "limit/snapshot_bytes.hpp"
#include "limit/telling.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate::testing {

/// Faults in gates, which the promises have to notice.
struct gate_mutants {
    bool accepts_after_told = false;  ///< incumbents pass at once although the gate has said that it has told
    bool ignores_over_full = false;   ///< so they do where they were more than the maximum
    bool never_refills = false;       ///< after a loss of data
    bool forgets_failed = false;      ///< what the store was not told of counts as told
    bool says_told_unclean = false;   ///< the gate says that it has told while something is untold
    bool accepts_nothing = false;     ///< incumbents ask, and get nothing when the store is away
};

/// In what histories differ.
struct history_faults {
    enum class unanswered : std::uint8_t { refused, alone, admitted };

    bool loses_messages = false;
    bool cuts_off = false;
    bool loses_data = false;
    bool lags = false;          ///< another server has the data of some moments before
    bool restarts_all = false;  ///< with another server, which has older data: all gates, one of them renamed
    bool restarts = false;      ///< with the state that the gate has saved at that moment
    bool leaves = false;        ///< gates that have told all leave; others with their state begin in their places
    bool leaps = false;         ///< the store's clock
    bool observes = false;      ///< the limits observe at first
    unanswered becomes = unanswered::refused;
};

class fleet_simulation {
    static constexpr std::size_t tenant_count = 2, series_count = 48;
    static constexpr std::uint64_t hour_max = 14, job_max = 7;
    static constexpr std::chrono::seconds grace{600};

    struct simulated_series {
        std::uint64_t fingerprint = 0;
        std::size_t tenant = 0;
        label_set labels{};
    };

    struct request {
        std::size_t tenant = 0;
        std::vector<std::size_t> series{};  // places in series_
        std::vector<offered_series> offered{};
        std::vector<verdict> verdicts{};
        lookup_result open{};
        shown_labels labels{};
        store_questions asked{hash_key::known_to_all()};
        fleet_view::ticket asking{}, accepting{};
        std::vector<std::optional<store_answer>> answers{};
        std::size_t next = 0;
        int moves = 0;
        int hours = 0;                         // it has been asked in
        std::optional<store_answer> coming{};  // that is on its way
        std::set<std::uint64_t> known{};       // in the hour when it came
        std::set<std::uint64_t> before{};      // in the hour before, then
        bool knew_before = false;              // how many series budgets had in it
    };

    struct gate {
        std::string name;
        std::uint64_t run = 0;
        std::chrono::seconds clock_is_ahead{0};
        bool is_cut_off = false;
        std::int64_t heard_in = 0;
        std::unique_ptr<series_limiter> limiter{};
        std::unique_ptr<fleet_view> view = std::make_unique<fleet_view>();
        std::unique_ptr<gate_session> session{};
        std::unique_ptr<untold_walker> walker{};
        std::unique_ptr<feed_follower> feed{};
        std::vector<std::unique_ptr<request>> requests{};
        std::optional<std::pair<store_call, store_answer>> telling{};  // whose answer is on its way
    };

    random_numbers random_;
    const history_faults faults_;
    const gate_mutants wrong_;
    shared_store_model store_, replica_;
    std::uint64_t steps_ = 0;
    std::string server_ = "first";
    bool is_away_ = false;
    std::chrono::seconds store_is_ahead_{0};
    time_point now_ = at(10, 50);
    limit_rules rules_;
    std::vector<simulated_series> series_;
    std::vector<gate> gates_;
    std::uint64_t runs_ = 0;
    std::map<std::int64_t, std::set<std::size_t>> upstream_;  // places of series, by hour
    std::int64_t places_of_ = -1;                             // the hour that has_places_ is about
    bool has_places_ = false;
    std::int64_t disturbed_ = 0;                          // up to this hour more than the limit may pass
    std::int64_t kept_for_nobody_ = 0;                    // up to this hour places may be, for a gate that has left
    std::map<std::int64_t, std::set<std::size_t>> late_;  // by hour: may pass beside those that the limit admits
    std::set<std::size_t> doubtful_;                      // passed without an answer while gates refill

  public:
    /// What has happened: a history in which nothing does shows nothing.
    std::uint64_t accepted = 0, refused = 0, lapses = 0, hours_seen = 0;

    fleet_simulation(std::uint64_t seed, const history_faults& faults, const gate_mutants& wrong = {},
                     const shared_store_mutants& wrong_store = {})
        : random_(seed), faults_(faults), wrong_(wrong), store_(wrong_store), replica_(wrong_store) {
        rules_ = {.global = {.hourly = hour_max, .daily = random_.one_in(2) ? 0 : 3 * hour_max}};
        rules_.incumbent_grace = grace;
        rules_.limits = {limit_named("jobs", {"job"}, {.hourly = job_max})};
        if (faults_.observes) rules_.mode = limit_mode::observe;
        for (std::uint64_t i = 0; i < series_count; ++i)
            series_.push_back({.fingerprint = fingerprint_of(i),
                               .tenant = random_.below(tenant_count),
                               .labels = {{"job", std::string(1, static_cast<char>('a' + i % 3))}}});
        const std::size_t count = 2 + random_.below(3);
        for (std::size_t i = 0; i < count; ++i) {
            gate& made = gates_.emplace_back();
            made.name = "gate-" + std::to_string(i);
            made.clock_is_ahead = std::chrono::seconds{static_cast<int>(random_.below(5)) - 2};
            start(made, {});
        }
    }

    void step() {
        advance();
        if (faults_.lags && steps_++ % (faults_.restarts_all ? 256 : 16) == 0) replica_ = store_;
        gate& at = gates_[random_.below(gates_.size())];
        const std::uint64_t what = random_.below(12);
        if (what < 2) return begin_request(at);
        if (what < 6) return go_on(at);
        if (what < 8) return beat(at);
        if (what < 10) return tell(at);
        if (what < 11) return read_feed(at);
        at.limiter->maintain(fleet_now(at));
        if (random_.one_in(10)) disturb(at);
    }

    /// All faults end. Soon all gates have joined and told, and the store knows all that has passed.
    void heal() {
        is_away_ = false;
        store_is_ahead_ = {};
        for (gate& each : gates_) each.is_cut_off = false;
        // A clock that had leapt is believed again at once; a refill may take some seconds more.
        settle_all(15);
        if (faults_.leaps) {  // who has started by a wrong clock doubts the right one for five minutes
            now_ += std::chrono::seconds{400};
            settle_all(15);
        }
        const std::int64_t hour = hour_number(now_);
        if (!faults_.leaps && store_.hour_number() == hour && hour > kept_for_nobody_ &&
            now_ > time_point{std::chrono::hours{hour}} + grace + std::chrono::seconds{15})
            require(!store_.keeps_places(), "places are kept although all gates have told" + who_has_told());
        for (gate& each : gates_) {
            require(each.view->state() == store_reach::joined, each.name + " has not joined again");
            require(each.walker->is_clean(), each.name + " has not told of all");
        }
        // Nothing has come in it; or it came while a clock was wrong, and was counted in that hour.
        if (store_.hour_number() != hour || faults_.leaps) return;
        for (const std::size_t each : upstream_[hour])
            require(store_.hour().series.contains(series_[each].fingerprint),
                    "the store does not know what has passed");
    }

    [[nodiscard]] std::string who_has_told() const {
        std::string all;
        for (const auto& [name, its] : store_.gates())
            all += ", " + name + ": hour " + std::to_string(its.hour) + ", told " + std::to_string(its.told) +
                   (its.has_left ? ", left" : "");
        return all;
    }

    /// Gates work undisturbed.
    void settle_all(int seconds) {
        for (int second = 0; second < seconds; ++second) {
            now_ += std::chrono::seconds{1};
            for (gate& each : gates_) {
                beat(each, true);
                for (int i = 0; i < 40; ++i) tell(each, true);
                read_feed(each, true);
                read_feed(each, true);
                while (!each.requests.empty()) go_on(each, true);
            }
        }
    }

    void enforce() {
        disturbed_ = std::max(disturbed_, hour_number(now_));  // what was observed in this hour has passed
        rules_.mode = limit_mode::enforce;
        for (gate& each : gates_) each.limiter->reconfigure(rules_);
    }

  private:
    static void require(bool holds, const std::string& promise) {
        if (!holds) throw broken_promise{promise};
    }

    [[nodiscard]] gate_session::clocks clocks_of(const gate& of) const {
        return {.steady = witnessed_clock::steady_point{now_.time_since_epoch()}, .own = now_ + of.clock_is_ahead};
    }
    [[nodiscard]] time_point fleet_now(const gate& of) const {
        const auto at = clocks_of(of);
        return of.view->clock.now(at.steady, at.own);
    }
    [[nodiscard]] time_point store_now() const { return now_ + store_is_ahead_; }
    [[nodiscard]] bool hears(const gate& of) const { return !is_away_ && !of.is_cut_off; }
    bool loses() { return faults_.loses_messages && random_.one_in(25); }

    void advance() {
        const std::int64_t hour = hour_number(now_);
        // Gates that give no sign of life for long are not waited for in a refill.
        const bool is_refilled = std::ranges::none_of(gates_, [](const gate& each) {
            return each.walker->refilled().has_value() || each.view->state() == store_reach::refilling;
        });
        const bool is_calm = is_refilled && !store_.is_refilling() && store_.epoch();
        const std::chrono::milliseconds passes{random_.below(!is_calm ? 30 : random_.one_in(40) ? 600'000 : 3'000)};
        // Meanwhile gates give a sign of life each second, and read ten times: often enough to be witnesses of the
        // time, who have to agree within two minutes.
        for (const time_point end = now_ + passes; now_ < end;) {
            now_ = std::min(end, now_ + std::chrono::seconds{100});
            note_cut_off();
            if (passes < std::chrono::seconds{5}) break;
            for (gate& each : gates_) {
                if (faults_.loses_messages) give_up_waiting(each);
                beat(each);
                read_feed(each);
            }
            if (store_.is_refilling()) break;  // then gates tell, which takes them no minutes
        }
        if (hour_number(now_) != hour) ++hours_seen;
    }

    /// No answer is waited for so long.
    static void give_up_waiting(gate& at) {
        for (const auto& each : at.requests) {
            if (each->coming) ++each->next;
            each->coming.reset();
        }
        if (at.telling) at.walker->is_not_told();
        at.telling.reset();
    }

    void start(gate& of, const std::string& state) {
        of.requests.clear();  // they hold tickets of the view
        of.telling.reset();
        of.run = ++runs_;
        of.view = std::make_unique<fleet_view>();
        of.limiter = std::make_unique<series_limiter>(rules_, now_ + of.clock_is_ahead, hash_key::known_to_all(),
                                                      limit_scope::fleet, set_kind::exact);
        if (!state.empty()) require(restored(*of.limiter, state, now_ + of.clock_is_ahead), "the state is not read");
        of.session = std::make_unique<gate_session>(
            *of.view, gate_identity{.name = of.name, .version = "1", .fingerprints = "f"}, !state.empty(),
            now_ + of.clock_is_ahead, grace, lapsed_hour_of(*of.limiter));
        of.walker = std::make_unique<untold_walker>(*of.limiter, hash_key::known_to_all());
        of.feed = std::make_unique<feed_follower>(*of.limiter, *of.view, of.run, std::chrono::seconds{1});
    }

    store_answer decide(const store_call& asked, const gate_terms& terms) {
        store_answer said = store_.decide(asked, terms, server_, store_now());
        note_places();
        return said;
    }

    /// If nobody has opened the hour before, because the store was away throughout, it keeps no places.
    void note_places() {
        if (store_.hour_number() == places_of_ || store_.hour_number() < 0) return;
        places_of_ = store_.hour_number();
        has_places_ = store_.has_before() || store_.is_refilling();
        if (store_.has_before() && !store_.is_refilling()) note_untold();
    }

    /// The store keeps no place for what passed before the hour and is yet to be told.
    void note_untold() {
        std::vector<std::uint64_t> untold;
        for (gate& each : gates_)
            for (std::uint64_t next = 0; find_untold(*each.limiter, next, untold);) {
            }
        for (const std::size_t each : upstream_[places_of_ - 1])
            if (!store_.before().series.contains(series_[each].fingerprint) &&
                std::ranges::find(untold, series_[each].fingerprint) != untold.end())
                late_[places_of_].insert(each);
    }

    /// A series that only this gate had heard of has passed without an answer. It is counted once it is told; if that
    /// is not within the refill, another may have taken its room.
    void note_doubtful(std::size_t series) {
        if (store_.is_refilling())
            doubtful_.insert(series);
        else if (!store_.hour().series.contains(series_[series].fingerprint))
            late_[hour_number(now_)].insert(series);
    }
    void note_refill_ended() {
        for (const std::size_t each : std::exchange(doubtful_, {})) note_doubtful(each);
    }

    /// A gate that was cut off over two edges passes its series, whose places nobody has kept.
    void note_cut_off() {
        const std::int64_t hour = hour_number(now_);
        for (gate& each : gates_) {
            const auto heard = store_.gates().find(each.name);
            if (heard != store_.gates().end()) each.heard_in = heard->second.hour;
            if ((!hears(each) || !each.view->is_reachable()) && hour > each.heard_in)
                disturbed_ = std::max(disturbed_, each.heard_in + 3);
        }
    }
    void note_fault_in_refill() {
        const bool refills = store_.is_refilling() || std::ranges::any_of(gates_, [](const gate& each) {
                                 return each.walker->refilled() || each.view->state() != store_reach::joined;
                             });
        if (refills) disturbed_ = std::max(disturbed_, hour_number(now_) + 2);
    }
    /// So does one that cannot tell again what the store has lost.
    void note_loss() {
        const bool all_hear = std::ranges::all_of(gates_, [this](const gate& each) { return hears(each); });
        if (!all_hear || store_is_ahead_.count() != 0) disturbed_ = std::max(disturbed_, hour_number(now_) + 2);
    }

    /// Nobody remembers who has left if the store loses its data before the others have heard of that.
    void note_who_is_named() {
        for (const gate& each : gates_)
            for (const gate_heard_of& named : each.session->gates())
                if (std::ranges::none_of(gates_, [&named](const gate& one) { return one.name == named.name; }))
                    kept_for_nobody_ = std::max(kept_for_nobody_, hour_number(now_) + 1);
    }

    // --- Requests.

    void begin_request(gate& at) {
        if (at.requests.size() >= 4) return;
        auto made = std::make_unique<request>();
        made->tenant = random_.below(tenant_count);
        const std::uint64_t part = 1 + random_.below(4);
        const std::size_t first = random_.one_in(3) ? series_count / 2 : 0;  // an explosion, and what there was before
        const std::size_t last = random_.one_in(2) ? series_count / 2 : series_count;
        for (std::size_t i = first; i < std::max(last, first + 8); ++i)
            if (i < series_count && series_[i].tenant == made->tenant && random_.below(4) < part)
                made->series.push_back(i);
        for (const std::size_t i : made->series)
            made->offered.push_back({.fingerprint = series_[i].fingerprint, .samples = 1, .admits = true});
        ask(at, *made);
        at.requests.push_back(std::move(made));
    }

    [[nodiscard]] static std::string tenant_name(std::size_t tenant) { return "tenant-" + std::to_string(tenant); }
    request_origin origin_of(request& of) {
        of.labels.entries.clear();
        for (const std::size_t i : of.series) of.labels.entries.push_back(views_of(series_[i].labels));
        return {.tenant = tenants_[of.tenant], .labels = &of.labels};
    }
    const std::array<std::string, tenant_count> tenants_{tenant_name(0), tenant_name(1)};

    void ask(gate& at, request& of) {
        const time_point now = fleet_now(at);
        of.verdicts.assign(of.offered.size(), verdict::unknown);
        static_cast<void>(at.limiter->sets_at(now));
        of.known.clear();
        of.before.clear();
        for (const offered_series& each : of.offered) {
            const bool is_doubtful = at.limiter->sets()->is_doubtful(each.fingerprint);
            const bool is_known = at.limiter->hour_has(each.fingerprint);
            if (is_known) of.known.insert(each.fingerprint);
            // It flows, although the store may have lost a series that never passed anywhere.
            if (is_known && is_doubtful) disturbed_ = std::max(disturbed_, hour_number(now_) + 1);
            if (at.limiter->was_admitted_before(each.fingerprint) && !is_doubtful) of.before.insert(each.fingerprint);
        }
        at.limiter->lookup(of.offered, now, of.verdicts, of.open);
        require(at.limiter->select(of.offered, of.open, origin_of(of)), "the rules need too much work");
        const std::int64_t hour = hour_number(time_point{of.open.hour.start});
        of.asking = at.view->ask(losses_of(*at.limiter));
        of.accepting = {};
        if (gate_session::accepts(*at.view, now, of.open.hour, grace) && !wrong_.accepts_nothing)
            of.accepting = at.view->accept(hour);
        const bool accepts = static_cast<bool>(of.accepting) || wrong_.accepts_after_told;
        fleet_view never_full;
        never_full.begin(at.view->epoch(), at.view->windows());
        never_full.hear_record({}, hour, &fleet_view::budget_counts::before);
        const fleet_view& view = wrong_.ignores_over_full ? never_full : *at.view;
        of.knew_before = at.view->is_over_full({}, hour) != over_full::unknown;
        of.asked.ask(of.offered, of.open, tenants_[of.tenant],
                     {*at.limiter, view, hour, accepts, clocks_of(at).steady});
        of.answers.assign(of.asked.calls().size(), {});
        of.next = 0;
        of.moves = 0;
        of.coming.reset();
    }

    [[nodiscard]] gate_terms terms_of(const gate& at, const auto& described) const {
        gate_terms made{.gate = at.name, .run = at.run, .clock = clocks_of(at).own};
        described.describe(made);
        at.view->describe(made);
        return made;
    }

    void go_on(gate& at, bool at_once = false) {
        if (at.requests.empty()) return;
        const std::size_t which = random_.below(at.requests.size());
        request& of = *at.requests[which];
        if (of.next < of.answers.size()) {
            if (!of.coming && !at.view->may_ask(hour_number(time_point{of.open.hour.start}))) {
                ++of.next;
            } else if (!of.coming) {
                const bool is_sent = hears(at) && (at_once || !loses());
                if (is_sent)
                    of.coming = decide(of.asked.calls()[of.next], terms_of(at, of.asked));
                else
                    ++of.next;
            } else {
                hear_answer(at, of, at_once || !loses());
            }
            return;
        }
        if (of.asked.ask_rest(of.answers)) {
            of.answers.resize(of.asked.calls().size());
            return;
        }
        if (settle(at, of)) at.requests.erase(at.requests.begin() + static_cast<std::ptrdiff_t>(which));
    }

    void hear_answer(gate& at, request& of, bool arrives) {
        const store_answer said = std::move(*of.coming);
        of.coming.reset();
        if (!arrives) {
            ++of.next;
            return;
        }
        at.view->hear(said.windows);
        const auto clocks = clocks_of(at);
        static_cast<void>(at.view->clock.correct(said.windows.now, said.windows.hour, clocks.steady, clocks.own));
        switch (said.status) {
            case store_status::decided:
                at.view->hear(of.asked.calls()[of.next], said);
                of.answers[of.next++] = said;
                break;
            case store_status::closed:
                if (++of.hours <= 3 && at.limiter->sets_at(fleet_now(at))->hour_span != of.open.hour)
                    return ask(at, of);
                ++of.next;
                break;
            case store_status::moved:
                if (++of.moves > 3) ++of.next;
                break;
            case store_status::other_epoch:
                ++of.next;
        }
    }

    decision_outcome without_answer(gate& at, request& of, std::span<const shared_budget* const> budgets) {
        using enum history_faults::unanswered;
        const bool passes =
            faults_.becomes == admitted ||
            (faults_.becomes == alone && at.view->admits_alone(budgets, hour_number(time_point{of.open.hour.start})));
        return passes ? decision_outcome::passes : decision_outcome::withheld;
    }

    /// @return false if the hour is over: then it is asked anew.
    bool settle(gate& at, request& of) {
        const time_point now = fleet_now(at);
        if (at.limiter->sets_at(now)->hour_span != of.open.hour) {
            ask(at, of);
            return false;
        }
        const std::vector<std::uint32_t> pending = of.open.pending;
        const fleet_decision said = of.asked.decide(
            of.answers, [&](std::span<const shared_budget* const> budgets) { return without_answer(at, of, budgets); });
        for (std::size_t i = 0; i < pending.size(); ++i) {
            if (said.pending[i].outcome != decision_outcome::passes) continue;
            const std::uint64_t one = of.offered[pending[i]].fingerprint;
            // After a loss nobody but this gate may have heard of some: they pass all the same if there is no answer.
            if (at.limiter->sets()->is_doubtful(one)) note_doubtful(of.series[pending[i]]);
            if (!of.knew_before && is_over_full(hour_number(now_) - 1, of.series[pending[i]]) &&
                (faults_.loses_messages || !store_.before().series.contains(one)))
                disturbed_ = std::max(disturbed_, hour_number(now_) + 1);
        }
        const std::set<std::uint64_t> incumbents = incumbents_at(at, of);
        require(at.limiter->commit(of.offered, now, of.verdicts, of.open, origin_of(of), &said), "too much work");
        of.accepting = {};
        of.asking = {};
        const std::int64_t hour = hour_number(time_point{of.open.hour.start});
        for (std::size_t i = 0; i < of.offered.size(); ++i) {
            const bool passes = is_accepted(of.verdicts[i]);
            (passes ? accepted : refused) += 1;
            require(passes || !of.known.contains(of.offered[i].fingerprint), "a known series is refused");
            // Where the store is asked about one that it is yet to be told of, another may have its place.
            require(passes || !incumbents.contains(of.offered[i].fingerprint) || late_[hour].contains(of.series[i]),
                    "a series of the hour before is refused");
            if (passes) upstream_[hour].insert(of.series[i]);
        }
        check_limits(hour);
        return true;
    }

    /// Series whose places this gate has to keep.
    std::set<std::uint64_t> incumbents_at(const gate& at, const request& of) {
        std::set<std::uint64_t> made;
        if (!keeps_places(at, of.open.hour)) return made;
        const std::int64_t hour = hour_number(time_point{of.open.hour.start});
        for (std::size_t i = 0; i < of.offered.size(); ++i) {
            const std::uint64_t one = of.offered[i].fingerprint;
            if (of.before.contains(one) && !is_over_full(hour - 1, of.series[i])) made.insert(one);
        }
        return made;
    }
    [[nodiscard]] bool keeps_places(const gate& at, const window_span& hour) const {
        const bool is_open = store_.hour_number() == hour_number(time_point{hour.start}) && store_.keeps_places();
        return fleet_now(at) < hour.start + grace && is_open && hears(at) && store_is_ahead_.count() == 0 &&
               has_places_;
    }
    [[nodiscard]] std::size_t count_like(std::int64_t hour, std::size_t series, bool by_job,
                                         const std::set<std::size_t>& but = {}) const {
        const auto at = upstream_.find(hour);
        if (at == upstream_.end()) return 0;
        return static_cast<std::size_t>(std::ranges::count_if(at->second, [&](std::size_t each) {
            return !but.contains(each) && (!by_job || series_[each].labels == series_[series].labels);
        }));
    }
    [[nodiscard]] bool is_over_full(std::int64_t hour, std::size_t series) const {
        return count_like(hour, series, false) > hour_max || count_like(hour, series, true) > job_max;
    }

    void check_limits(std::int64_t hour) {
        if (rules_.mode == limit_mode::observe || hour <= disturbed_) return;
        if (faults_.becomes != history_faults::unanswered::refused) return;
        const std::set<std::size_t>& late = late_[hour];
        require(count_like(hour, 0, false, late) <= hour_max, "more series than the limit have passed");
        for (std::size_t job = 0; job < 3; ++job)
            require(count_like(hour, job, true, late) <= job_max, "more series of a job than its limit have passed");
    }

    // --- What gates do besides.

    void beat(gate& at, bool at_once = false, bool leaves = false) {
        const auto clocks = clocks_of(at);
        const heartbeat said = at.session->next(
            {.at = clocks, .grace = grace, .refilled = at.walker->refilled(), .leaves = leaves, .is_clean = [&] {
                 return wrong_.says_told_unclean || at.walker->is_clean();
             }});
        if (!hears(at)) {
            at.session->lose_store();
            at.feed->lose();
            return;
        }
        if (!at_once && loses()) return;
        const bool kept = store_.keeps_places(), refills = store_.is_refilling();
        const heartbeat_answer answer = store_.beat(said, server_, store_now());
        if (refills && !store_.is_refilling()) note_refill_ended();
        if (kept && !store_.keeps_places()) ++lapses;
        if (!at_once && loses()) return;
        if (at.session->take_answer(answer, clocks) == gate_session::news::lost_data) {
            at.telling.reset();
            at.session->begins_refill();
            if (wrong_.never_refills) {
                at.session->has_refilled();
            } else {
                tell_all(*at.limiter);
                at.walker->refill(at.session->place());
            }
        }
        note_lapse(*at.limiter, at.session->lapsed_hour());
        note_refilled(at);
    }

    static void note_refilled(gate& at) {
        if (!at.walker->refilled() && !at.view->has_earlier_answers(losses_of(*at.limiter))) at.session->has_refilled();
    }

    void tell(gate& at, bool at_once = false) {
        if (at.telling) {
            const auto [call, said] = std::move(*at.telling);
            at.telling.reset();
            const bool arrives = at_once || !loses();
            if (arrives && said.status == store_status::decided) {
                at.view->hear(call, said);
                at.walker->is_told();
            } else if (wrong_.forgets_failed) {
                at.walker->is_told();
            } else {
                at.walker->is_not_told();
            }
            if (arrives) at.view->hear(said.windows);
            note_refilled(at);
            return;
        }
        if (!at.view->is_reachable()) return;
        static_cast<void>(at.limiter->sets_at(fleet_now(at)));
        const auto call = at.walker->next();
        note_refilled(at);
        if (!call) return;
        if (!hears(at) || (!at_once && loses())) {
            wrong_.forgets_failed ? at.walker->is_told() : at.walker->is_not_told();
            return;
        }
        at.telling.emplace(*call, decide(*call, terms_of(at, *at.walker)));
    }

    void read_feed(gate& at, bool at_once = false) {
        const auto clocks = clocks_of(at);
        at.feed->learn_late(clocks.steady);
        if (!at.view->is_reachable() || !hears(at) || (!at_once && loses())) return;
        const feed_page page = store_.read_feed(at.view->epoch(), at.feed->read(), server_, store_now());
        feed_follower::news came;
        at.feed->read_page(page, clocks.steady, fleet_now(at), came);
        if (at.feed->wants_download() && page.state.status == heartbeat_status::heard &&
            at.view->state() == store_reach::joined)
            download(at);
    }

    void download(gate& at) {
        const window_span hour = at.limiter->sets_at(fleet_now(at))->hour_span;
        if (hour_number(time_point{hour.start}) != store_.hour_number()) return;
        const std::vector<std::uint64_t> series{store_.hour().series.begin(), store_.hour().series.end()};
        require(learn(*at.limiter, hour, series), "the hour is not learnt");
        if (store_.has_before()) {
            const std::vector<std::uint64_t> before{store_.before().series.begin(), store_.before().series.end()};
            require(expect_hour_before(*at.limiter, hour) && learn_hour_before(*at.limiter, hour, before),
                    "the hour before is not learnt");
        }
        std::vector<std::pair<std::uint64_t, std::uint64_t>> counts;
        for (const auto& [id, its] : store_.before().counted) counts.emplace_back(id, its.size());
        at.view->hear_record(counts, store_.hour_number(), &fleet_view::budget_counts::before);
        at.feed->has_downloaded();
    }

    /// As membership::leave(). Another one begins in its place, with its state.
    void leave(gate& at) {
        if (!at.view->is_reachable() || !at.walker->is_clean()) return;
        beat(at, true, true);
        if (at.walker->refilled()) return;  // it hears of a loss only now, and goes on
        const std::string state = saved(*at.limiter);
        at.name += "'";
        start(at, state);
    }

    // --- Faults.

    /// A gate that has just begun believes the store if no other gate's clock can say better.
    [[nodiscard]] bool all_are_witnesses() const {
        return store_is_ahead_.count() == 0 ||
               std::ranges::none_of(gates_, [](const gate& each) { return each.is_cut_off; });
    }
    [[nodiscard]] bool has_no_witness() const { return store_is_ahead_.count() != 0 && is_begun_without_witness(); }
    [[nodiscard]] bool is_begun_without_witness() const {
        return std::ranges::any_of(gates_, [](const gate& each) { return !each.view->clock.has_heard(); });
    }

    /// Nobody of them has heard the store before it has lost data, and one is waited for in vain.
    void restart_all(gate& renamed) {
        kept_for_nobody_ = hour_number(now_) + 1;
        renamed.name += "'";
        for (gate& each : gates_) start(each, saved(*each.limiter));
    }

    void disturb(gate& at) {
        switch (random_.below(7)) {
            case 0:
                if (faults_.cuts_off && !has_no_witness()) at.is_cut_off = !at.is_cut_off, note_fault_in_refill();
                break;
            case 1:
                if (faults_.cuts_off && random_.one_in(3)) is_away_ = !is_away_, note_fault_in_refill();
                break;
            case 2:
                if (!faults_.loses_data || has_no_witness()) break;
                note_loss();
                note_who_is_named();
                store_.empty();
                break;
            case 3:
                if (!faults_.loses_data) break;
                note_loss();
                server_ = std::to_string(random_());  // another server, with the same data or older
                if (faults_.lags) store_ = replica_;
                if (faults_.restarts_all) restart_all(at);
                break;
            case 4:
                if (faults_.restarts && at.requests.empty() && all_are_witnesses()) start(at, saved(*at.limiter));
                break;
            case 5:
                if (faults_.leaves && at.requests.empty() && hears(at) && all_are_witnesses()) leave(at);
                break;
            default:
                if (!faults_.leaps || is_begun_without_witness()) break;
                note_fault_in_refill();  // which is timed by that clock
                store_is_ahead_ =
                    store_is_ahead_.count() != 0
                        ? std::chrono::seconds{0}
                        : std::chrono::seconds{std::array{-5400, -90, 90, 300, 3600, 86'400}[random_.below(6)]};
        }
    }
};

}  // namespace seriesgate::testing
