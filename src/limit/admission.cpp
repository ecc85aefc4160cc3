#include "limit/admission.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace seriesgate {

namespace {

// --- Keys in the admitted sets that stand for something other than a series.

/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014 (SplitMix64).
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) noexcept {
    std::uint64_t key = seed + number * 0x9e3779b97f4a7c15;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
    key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
    return key ^ (key >> 31);
}

/// The n-th series admitted without room to complete a histogram. The set counts these series by such keys. The
/// family's own fingerprint in the set says that the histogram has begun.
std::uint64_t completing_key(const histogram_family& family, std::uint64_t number) noexcept {
    return mixed(family.fingerprint, number);
}

/// Marks an exempt series that the exempt limit had no room for, and that other budgets admitted.
std::uint64_t beyond_exemption_key(std::uint64_t fingerprint) noexcept {
    constexpr std::uint64_t number = std::uint64_t{1} << 32;  // larger than any number of series in a histogram
    return mixed(fingerprint, number);
}

/// @param series_max see limit_rules::histogram_series_max.
/// @param contains whether the set has a key.
/// @return the first key that is not in the set; nothing if the histogram has used them all.
template <class Contains>
std::optional<std::uint64_t> next_completing_key(const Contains& contains, const histogram_family& family,
                                                 std::uint64_t series_max) {
    // Keys are added in order, so a binary search of about ten lookups finds the first free one.
    std::uint64_t first = 1;
    for (std::uint64_t end = series_max + 1; first < end;) {
        const std::uint64_t middle = first + (end - first) / 2;
        if (contains(completing_key(family, middle)))
            first = middle + 1;
        else
            end = middle;
    }
    if (first > series_max) return std::nullopt;
    return completing_key(family, first);
}

constexpr histogram_family no_family{};
const pending_decision unasked;

bool enforces(const budget_pair* pair) {
    return pair == nullptr || pair->enforces();  // a missing budget that only observes never lacks room
}

limit_answer answer_at(std::size_t place, const limit_rules& rules, std::string_view tenant,
                       const rule_selections::one& selection) {
    if (is_limit_place(place, selection))
        if (const auto& own = rules.limits[selection.limit_index(selected_at(place, selection))].answer) return *own;
    return answer_of(rules, tenant);
}

}  // namespace

std::optional<decision> admission::decide(const offered_series& series, const histogram_family& family,
                                          const rule_selections::one& selection, const pending_decision& by_fleet) {
    assert(series.admits && !sets_.hour_has(series.fingerprint));
    const bool is_beyond = !are_stored_ && selection.exempt() && is_beyond_exemption(series, selection);
    if (is_beyond) note_exempt_demand(series, selection);
    auto made = decide_by(series, family, is_beyond ? selection.without_exemption() : selection, by_fleet);
    if (made) made->beyond_exemption = is_beyond || selection.is_beyond_exemption();
    return made;
}

/// Leaves the room reserved in the exempt limit to the series that this limit counted in the hour before. A series that
/// other budgets admitted then has its reservation there.
bool admission::is_beyond_exemption(const offered_series& series, const rule_selections::one& selection) {
    assert(selection.exempt());
    held_.budgets.find(tenant_, selection, budgets_);
    const candidate one = look_at(series, no_family, selection, unasked);
    if (spent(one).in_any.any()) return true;
    if (state_.is_shared() || one.before == standing::new_series ||
        !sets_.hour_before_has(beyond_exemption_key(series.fingerprint)))
        return false;
    // The marker may be a false positive: other budgets must really have room.
    const auto as_others = selection.without_exemption();
    held_.budgets.find(tenant_, as_others, budgets_);
    return !spent(look_at(series, no_family, as_others, unasked)).in_enforcing.any();
}

void admission::note_exempt_demand(const offered_series& series, const rule_selections::one& selection) {
    held_.budgets.find(tenant_, selection, budgets_);
    budget_pair* const pair = budgets_.front();
    if (pair == nullptr) return;
    const in_windows none_left = spent_at(0, look_at(series, no_family, selection, unasked));
    if (none_left.hour) pair->hourly.refuse(series.fingerprint);
    if (none_left.day) pair->daily.refuse(series.fingerprint);
}

bool admission::activate(const offered_series& series, const rule_selections::one& selection) {
    const admitted_key key{.key = series.fingerprint, .into = {.hour = true}};
    if (!held_.have_room({&key, 1})) return false;
    const bool is_beyond = selection.exempt() && sets_.hour_has(beyond_exemption_key(series.fingerprint));
    const auto applying = is_beyond ? selection.without_exemption() : selection;
    held_.budgets.find(tenant_, applying, budgets_);
    held_.budgets.make_missing(tenant_, applying, budgets_);
    held_.remember({.key = key.key, .into = key.into, .combination = join(key.key)});
    return true;
}

/// Counts an active series in the budgets of the current series, and no more where it counted before. Nothing may fail
/// from here until it is remembered.
combination_number admission::join(std::uint64_t fingerprint) {
    counted_in_.clear();
    for (const budget_pair* const each : budgets_) counted_in_.push_back(each->active.number);
    return held_.budgets.active().join(counted_in_, held_.table->read().mark_of(fingerprint).combination);
}

std::optional<decision> admission::decide_by(const offered_series& series, const histogram_family& family,
                                             const rule_selections::one& selection, const pending_decision& by_fleet) {
    if (!are_stored_ && is_unanswered(by_fleet, selection))
        return apply_unremembered(by_fleet, state_, series, answer_of(*held_.budgets.rules(), tenant_.name));
    held_.budgets.find(tenant_, selection, budgets_);
    observing_.clear();
    const candidate one = look_at(series, family, selection, by_fleet);
    const bool passes =
        by_fleet.outcome == decision_outcome::passes && by_fleet.budgets.empty();  // of a decision that is outdated
    if (are_stored_ || passes) return take(one, {}) ? std::optional{decision{}} : std::nullopt;
    copy_fleet_counts(one);
    // All budgets are checked before any is changed.
    const spent_windows without_room = spent(one);
    const in_windows& in_enforcing = without_room.in_enforcing;
    const bool is_by_fleet = by_fleet.outcome != decision_outcome::unasked;
    const completion over_limit = is_by_fleet ? completion{} : completing(without_room, one);
    const in_windows refusing = over_limit.refusing(in_enforcing);
    const demand found = without_room.in_any.any() ? note_demand(refusing, one) : demand{};
    const bool begins = one.in_histogram && !one.begun.hour;
    if (begins && one.before == standing::new_series && !is_by_fleet)
        if (const auto remembered = state_.refused.lookup(family.fingerprint)) return refuse(series, *remembered);
    if (!refusing.any()) {
        const auto how = by_fleet.outcome == decision_outcome::known ? verdict::known : verdict::admitted;
        const bool is_arrival = how == verdict::admitted && one.new_in_day && one.before == standing::new_series;
        return take(one, over_limit) ? std::optional{decision{.how = how, .is_arrival = is_arrival}} : std::nullopt;
    }
    const refusing_window window = first_of(refusing);
    assert(found.refusing != unknown_limit);
    const refusal refused{.how = refused_by(window, found.answer), .limit = found.refusing};
    if (selection.is_ignored_value()) {  // not a series, so refused series and samples are not counted
        const refusal first = state_.refused.insert(series.fingerprint, refused);
        return decision{.how = first.how, .limit = first.limit};
    }
    if (may_be_taken_back(one)) {
        state_.samples.add(window, series.samples);
        return decision{.how = refused.how, .limit = refused.limit};
    }
    if (begins) state_.refused.insert(family.fingerprint, refused);
    count_incomplete_histogram(refusing, one);
    return refuse(series, refused);
}

foreseen admission::foresee(const offered_series& series, const histogram_family& family,
                            const rule_selections::one& selection) {
    held_.budgets.find(tenant_, selection, budgets_);
    const candidate one = look_at(series, family, selection, unasked);
    const spent_windows without_room = spent(one);
    const in_windows& spent_in = without_room.in_enforcing;
    const completion over_limit = completing(without_room, one);
    const in_windows refusing = over_limit.refusing(spent_in);
    foreseen made{.completing = {.hour = over_limit.hour.has_value(),
                                 .day = over_limit.day.has_value(),
                                 .active = over_limit.active},
                  .before = one.before,
                  .in_histogram = one.in_histogram,
                  .begun = one.begun};
    for (std::size_t place = 0; place < budgets_.size(); ++place) {
        made.spent.push_back(spent_at(place, one));
        const in_windows here = refusing_at(place, refusing, one);
        if (made.refused || !refusing.any() || !enforces(budgets_[place])) continue;
        const refusing_window window = first_of(refusing);
        if (!is_in(window, here)) continue;
        made.refused = {.how = refused_by(window, limit_answer::drop), .limit = held_.limit_at(place, selection)};
    }
    if (one.in_histogram && !one.begun.hour && one.before == standing::new_series) {
        const auto remembered = state_.refused.lookup(family.fingerprint);
        made.with_histogram = remembered.has_value();
        if (remembered) made.refused = remembered;
    }
    return made;
}

decision admission::refuse_with_histogram(const offered_series& series, const histogram_family& family,
                                          const std::optional<refusal>& like, const pending_decision& by_fleet) {
    if (const auto remembered = state_.refused.lookup(family.fingerprint)) return refuse(series, *remembered);
    if (!like) return apply_unremembered(by_fleet, state_, series, answer_of(*held_.budgets.rules(), tenant_.name));
    // The other series was not remembered as refused, so neither is this one: the store is asked again.
    state_.samples.add(window_of(like->how), series.samples);
    return {.how = like->how, .limit = like->limit};
}

admission::candidate admission::look_at(const offered_series& series, const histogram_family& family,
                                        const rule_selections::one& selection, const pending_decision& by_fleet) const {
    const bool in_day = sets_.day_has(series.fingerprint);
    const bool in_histogram = family && !selection.is_apart();
    return {.series = series,
            .family = family,
            .selection = selection,
            .by_fleet = by_fleet,
            .new_in_day = !in_day,
            .is_active = sets_.is_active(series.fingerprint),
            .before = sets_.standing_of(series.fingerprint, in_day),
            .in_histogram = in_histogram,
            .begun = {.hour = in_histogram && sets_.hour_has(family.fingerprint),
                      .day = in_histogram && sets_.day_has(family.fingerprint)}};
}

/// Windows in which the budget in this place has no room for the series.
in_windows admission::spent_at(std::size_t place, const candidate& of) const {
    if (of.by_fleet.at(place) != nullptr && enforces(budgets_[place])) {
        const bool here = of.by_fleet.outcome == decision_outcome::refused && of.by_fleet.place == place;
        return {.hour = here && of.by_fleet.window == refusing_window::hourly,
                .day = here && of.by_fleet.window == refusing_window::daily};
    }
    in_windows none_left;
    if (const budget_pair* const pair = budgets_[place])
        none_left = {.hour = !pair->hourly.has_room(of.before), .day = !pair->daily.has_room(of.before)};
    else if (of.before == standing::new_series)
        none_left = held_.budgets.spent_for_new_series(tenant_, of.selection, place);
    none_left.day &= of.new_in_day;
    if (held_.table && !of.is_active) none_left.active = active_room_at(place, of).is_spent;
    return none_left;
}

budget_table::active_room admission::active_room_at(std::size_t place, const candidate& of) const {
    return held_.budgets.active_room_in(tenant_, of.selection, place, budgets_[place], held_.minute);
}

admission::spent_windows admission::spent(const candidate& of) const {
    spent_windows none_left;
    for (std::size_t place = 0; place < budgets_.size(); ++place) {
        const in_windows here = spent_at(place, of);
        none_left.in_any |= here;
        const budget_pair* const pair = budgets_[place];
        if (!enforces(pair)) continue;
        none_left.in_enforcing |= here;
        none_left.without_margin |= {.hour = here.hour && (pair == nullptr || !pair->hourly.has_margin()),
                                     .day = here.day && (pair == nullptr || !pair->daily.has_margin()),
                                     .active = here.active && !active_room_at(place, of).has_margin};
    }
    return none_left;
}

admission::completion admission::completing(const spent_windows& spent, const candidate& of) const {
    const std::uint64_t series_max = held_.budgets.rules()->histogram_series_max;
    completion keys;
    if (spent.in_enforcing.hour && of.begun.hour && !spent.without_margin.hour)
        keys.hour =
            next_completing_key([this](std::uint64_t key) { return sets_.hour_has(key); }, of.family, series_max);
    if (spent.in_enforcing.day && of.begun.day && !spent.without_margin.day)
        keys.day =
            next_completing_key([this](std::uint64_t key) { return sets_.day_has_key(key); }, of.family, series_max);
    keys.active = spent.in_enforcing.active && of.begun.hour && !spent.without_margin.active;
    return keys;
}

/// Counts a series refused although its histogram has begun: the margin or histogram_series_max is used up.
void admission::count_incomplete_histogram(in_windows refusing, const candidate& of) {
    if (refusing.hour && of.begun.hour) held_.hourly.cut_series.insert(of.series.fingerprint);
    if (refusing.day && of.begun.day) held_.daily.cut_series.insert(of.series.fingerprint);
}

/// Windows in which the budget in this place refuses the series, or would if it did not only observe.
in_windows admission::refusing_at(std::size_t place, in_windows refusing, const candidate& of) const {
    in_windows here = spent_at(place, of);
    here.hour &= refusing.hour || !enforces(budgets_[place]);
    here.day &= refusing.day || !enforces(budgets_[place]);
    here.active &= refusing.active || !enforces(budgets_[place]);
    return here;
}

/// Visits all budgets, so that each full one counts the refused series.
admission::demand admission::note_demand(in_windows refusing, const candidate& of) {
    demand found;
    for (std::size_t place = 0; place < budgets_.size(); ++place) {
        budget_pair* const pair = budgets_[place];
        const in_windows here = refusing_at(place, refusing, of);
        if (pair != nullptr && here.hour) pair->hourly.refuse(of.series.fingerprint);
        if (pair != nullptr && here.day) pair->daily.refuse(of.series.fingerprint);
        if (pair != nullptr && here.active) pair->active.refuse(of.series.fingerprint);
        if (!here.any()) continue;
        if (!enforces(pair)) {
            observing_.push_back({.limit = held_.limit_at(place, of.selection), .window = first_of(here)});
            continue;
        }
        if (found.refusing == unknown_limit && is_in(first_of(refusing), here))
            found.refusing = held_.limit_at(place, of.selection);
        found.answer = std::max(found.answer, answer_at(place, *held_.budgets.rules(), tenant_.name, of.selection));
    }
    return found;
}

/// Copies the fleet's counts into this gate's budgets; figures and reserved room are read from there.
void admission::copy_fleet_counts(const candidate& of) {
    const bool is_days_first = sets_.hour_span.start == sets_.day_span.start;
    for (const counted_budget& each : of.by_fleet.budgets) {
        budget_pair* const pair = budgets_[each.place];
        if (pair == nullptr || each.is_overflow != pair->role.overflow) continue;
        if (each.unasked) {
            pair->hourly.raise_to(each.hourly);
            pair->daily.raise_to(each.daily);
            continue;
        }
        pair->hourly.raise_to(each.hourly, each.reserved);
        pair->daily.raise_to(each.daily, is_days_first ? each.reserved : 0);
    }
}

/// Whether room may appear without notice. The grace is over, but the store still keeps room for incumbents that other
/// gates have not reported. Such a refusal is not remembered; the store is asked again.
bool admission::may_be_taken_back(const candidate& of) const {
    if (of.by_fleet.outcome != decision_outcome::refused || sets_.lapse) return false;
    const counted_budget* const by = of.by_fleet.at(of.by_fleet.place);
    const budget_pair* const pair = budgets_[of.by_fleet.place];
    if (by == nullptr || by->reserved == 0) return false;
    const bool by_hour = of.by_fleet.window == refusing_window::hourly;
    return pair == nullptr || (by_hour ? by->hourly < pair->hourly.max() : by->daily < pair->daily.max());
}

bool admission::is_unanswered(const pending_decision& by_fleet, const rule_selections::one& selection) const {
    if (by_fleet.outcome == decision_outcome::withheld) return true;
    if (!state_.is_shared() || by_fleet.outcome != decision_outcome::unasked) return false;
    return is_limited(*held_.budgets.rules(), tenant_.name, selection);
}

decision apply_unremembered(const pending_decision& by_fleet, limiter_state& state, const offered_series& series,
                            limit_answer answer) {
    switch (by_fleet.outcome) {
        case decision_outcome::known:
            return {.how = verdict::known};
        case decision_outcome::taken:
        case decision_outcome::passes:
            return {.how = verdict::admitted};
        case decision_outcome::refused:
        case decision_outcome::refused_with_histogram:
            state.samples.add(by_fleet.window, series.samples);
            return {.how = refused_by(by_fleet.window, answer), .limit = other_limit};
        case decision_outcome::unasked:
        case decision_outcome::withheld:
            break;
    }
    state.samples.add(refusing_window::hourly, series.samples);
    return {.how = refused_by(refusing_window::hourly, answer), .limit = unavailable_limit};
}

/// Remembers a refusal. The series keeps the window and limit that refused it first, even if other limits are full by
/// now. Reporting follows the sender at hand.
decision admission::refuse(const offered_series& series, refusal refused) {
    const refusal first = state_.refused.insert(series.fingerprint, refused);
    const refusing_window window = window_of(first.how);
    held_.has_refused_active |= window == refusing_window::active;  // first: memory may run out in the next line
    held_.tally_of(window).refused_series.insert(series.fingerprint);
    state_.samples.add(window, series.samples);
    return {.how = refused_by(window, is_reported(refused.how) ? limit_answer::reject : limit_answer::drop),
            .limit = first.limit};
}

/// @return false if the sets are full.
bool admission::take(const candidate& of, const completion& over_limit) {
    const std::uint64_t exemption = beyond_exemption_key(of.series.fingerprint);
    const bool marks_exemption = of.selection.is_beyond_exemption() && !sets_.hour_has(exemption);
    std::array<admitted_key, 5> keys{{
        {.key = of.series.fingerprint, .into = {.hour = true, .day = of.new_in_day}},
        {.key = of.family.fingerprint,
         .into = {.hour = of.in_histogram && !of.begun.hour, .day = of.in_histogram && !of.begun.day}},
        {.key = exemption, .into = {.hour = marks_exemption, .day = false}},
        {.key = over_limit.hour.value_or(0), .into = {.hour = over_limit.hour.has_value(), .day = false}},
        {.key = over_limit.day.value_or(0), .into = {.hour = false, .day = over_limit.day.has_value()}},
    }};
    if (!held_.have_room(keys)) return false;
    for (const counted_budget& each : of.by_fleet.budgets)
        if (each.is_overflow) held_.budgets.use_overflow(tenant_, of.selection, each.place, budgets_);
    held_.budgets.make_missing(tenant_, of.selection, budgets_);
    if (held_.table) keys.front().combination = join(of.series.fingerprint);
    keys.front().is_untold =
        of.by_fleet.outcome == decision_outcome::passes || is_lost_ || (are_stored_ && state_.is_shared());
    const bool is_stored = are_stored_ || of.by_fleet.outcome == decision_outcome::passes;
    in_windows over{.active = over_limit.active};
    for (std::size_t place = 0; place < budgets_.size(); ++place) {
        const bool is_counted_there =
            of.by_fleet.at(place) != nullptr && of.by_fleet.outcome != decision_outcome::passes;
        if (is_counted_there) continue;
        budget_pair* const pair = budgets_[place];
        // Figures show all exempt series.
        const limit_mode counts_as = is_stored && of.selection.exempt() ? limit_mode::enforce : pair->mode;
        over.hour |= pair->hourly.take(of.before, counts_as, is_stored) && !is_stored;
        if (of.new_in_day) over.day |= pair->daily.take(of.before, counts_as, is_stored) && !is_stored;
        if (held_.table && !of.is_active) pair->active.take_newly_active(held_.minute);
    }
    copy_fleet_counts(of);
    for (const admitted_key& each : keys) held_.remember(each);
    assert(sets_.day_has(of.series.fingerprint));  // the day's set contains the hour's
    held_.hourly.over_limit += over.hour ? 1 : 0;
    held_.daily.over_limit += over.day ? 1 : 0;
    held_.active.over_limit += over.active ? 1 : 0;
    count_completed(of.by_fleet);
    return true;
}

void admission::count_completed(const pending_decision& by_fleet) {
    held_.hourly.over_limit += by_fleet.completed.hour ? 1 : 0;
    held_.daily.over_limit += by_fleet.completed.day ? 1 : 0;
}

}  // namespace seriesgate
