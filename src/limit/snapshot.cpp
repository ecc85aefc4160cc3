// The limiter's state as bytes, little-endian:
//
//   windows   starts of hour and day, end of the grace, each in seconds since 1970
//   sets      with seriesSet: exact a byte 3 first, and a byte (1 the hour before is known, 2 the clock went back in
//             the day, 4 places have lapsed in a fleet's store). Day, hour, previous hour, previous day: a byte (0
//             none, 1 follows, 2 the same as the day's), then the set
//   table     with seriesSet: exact. For each partition the number of its series, and of each the fingerprint (8
//             bytes), the minute (4), a byte (1 was there in the hour before, 2 stands in the day alone, 4 and 8 a
//             fleet's store does not know it in the hour, in the hour before) and the combination (4); all bits set in
//             place of a number: no more
//   late      keys added to the sets during their copy; a byte each: 1 the hour's, 2 the day's, 3 both, 4 more if a
//             fleet's store does not know it; with seriesSet: exact the combination
//   refusals  sketch and samples, hourly and daily
//   over      series admitted over a limit to complete histograms, hourly and daily
//   active    with seriesSet: exact. Refusals and series over a limit, as above, of active series
//   budgets   see budget_table::begin_snapshot and save_pair
//   combinations  with seriesSet: exact. The last number; for each from 1 on how many budgets it has, and their numbers
//
// process/state_file.hpp adds magic, version and checksum. The snapshot shows the moment when the copy of the
// filters ends. late_keys records what is admitted meanwhile; budgets that change after that moment are written before.
#include "limit/limiter.hpp"

#include <algorithm>
#include <utility>

#include "limit/budget_table.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

enum class set_mark : std::uint8_t { none, follows, as_day, table };

constexpr unsigned into_hour = 1;
constexpr unsigned into_day = 2;
constexpr unsigned late_untold = 4;

/// Budgets written under one hold of the lock: each has up to 32 KiB of sketches.
constexpr std::size_t saved_per_piece = 8;

void save_set(state_encoder& out, const admitted_set* set, const admitted_set* day) {
    const set_mark mark = set == nullptr ? set_mark::none : set == day ? set_mark::as_day : set_mark::follows;
    out.number(static_cast<std::uint8_t>(mark));
    if (mark == set_mark::follows) set->save(out);
}

set_mark load_mark(state_decoder& in) {
    return static_cast<set_mark>(in.number<std::uint8_t>());
}

std::unique_ptr<admitted_set> load_set(state_decoder& in) {
    auto set = admitted_set::restore(in);
    if (!set) in.fail();
    return set;
}

constexpr std::uint64_t no_more = ~std::uint64_t{0};
constexpr unsigned before_bit = 1, day_bit = 2, untold_bit = 4, untold_before_bit = 8;
constexpr std::uint64_t entry_bytes = 17;
/// Combinations written under one hold of the lock.
constexpr combination_number combinations_per_piece = 1'024;

using table_part = std::vector<std::pair<std::uint64_t, series_mark>>;

/// Copies one partition at a time under the lock, and writes it without.
void save_table(guarded<commit_state>& commit, state_encoder& out, const window_sets& copied) {
    table_part part;
    part.reserve(std::size_t{1} << 14);  // the lock is not held while memory is made
    std::uint64_t next = 0;
    for (bool more = true; more && out.good();) {
        part.clear();
        {
            const auto held = commit.lock();
            more = copied.table->visit_some(next, [&part](std::uint64_t fingerprint, const series_mark& mark) {
                part.emplace_back(fingerprint, mark);
            });
        }
        out.number(static_cast<std::uint64_t>(part.size()));
        for (const auto& [fingerprint, mark] : part) {
            out.numbers(fingerprint, mark.seen);
            out.number(static_cast<std::uint8_t>((mark.was_before ? before_bit : 0) | (mark.is_day_key ? day_bit : 0) |
                                                 (mark.is_untold ? untold_bit : 0) |
                                                 (mark.is_untold_before ? untold_before_bit : 0)));
            out.number(mark.combination);
        }
    }
    out.number(no_more);
}

combination_number load_combination(state_decoder& in) {
    const auto number = in.number<combination_number>();
    if (number > series_mark::combination_max) in.fail();
    return in.good() ? number : 0;
}

/// Calls take(part) for each partition. Active series are outdated: the rules may be others now.
template <class Take>
void load_table(state_decoder& in, const Take& take) {
    table_part part;
    while (in.good()) {
        const auto count = in.number<std::uint64_t>();
        if (count == no_more || !in.has(std::min(count, no_more / entry_bytes) * entry_bytes)) return;
        part.clear();
        for (std::uint64_t i = 0; i < count && in.good(); ++i) {
            const auto fingerprint = in.number<std::uint64_t>();
            const auto seen = in.number<minute_number>();
            const auto bits = in.number<std::uint8_t>();
            const auto combination = load_combination(in);
            if (in.good())
                part.emplace_back(fingerprint, series_mark{.seen = seen,
                                                           .was_before = (bits & before_bit) != 0,
                                                           .is_day_key = (bits & day_bit) != 0,
                                                           .combination = combination,
                                                           .is_outdated = combination != 0,
                                                           .is_untold = (bits & untold_bit) != 0,
                                                           .is_untold_before = (bits & untold_before_bit) != 0});
        }
        take(part);
    }
}

/// About how many series a table has, of which these have the smallest fingerprints: they are spread evenly.
std::uint64_t estimated_series(const table_part& first, std::uint64_t series_max) {
    if (first.empty()) return 0;
    const auto largest = std::ranges::max_element(first, {}, [](const auto& each) { return each.first; })->first;
    const double all = static_cast<double>(first.size()) / (static_cast<double>(largest) + 1) * 0x1p64;
    return static_cast<std::uint64_t>(std::min(all, static_cast<double>(series_max)));
}

void insert_missing(admitted_set& filter, std::uint64_t key) {
    if (filter.contains(key)) return;
    if (!filter.has_room(1)) filter.adopt(filter.prepare_segment());
    filter.insert(key);
}

void save_sets(state_encoder& out, const window_sets& copied, std::int64_t lapsed_hour) {
    const admitted_set* const day = copied.day ? &copied.day->filter() : nullptr;
    if (copied.table) {
        const bool has_lapsed = lapsed_hour == hour_number(copied.hour_span.start);
        out.numbers(static_cast<std::uint8_t>(set_mark::table),
                    static_cast<std::uint8_t>((copied.knows_hour_before ? 1 : 0) | (copied.went_back ? 2 : 0) |
                                              (has_lapsed ? 4 : 0)));
    }
    save_set(out, day, nullptr);
    save_set(out, copied.hour.get(), nullptr);
    save_set(out, copied.previous_hour.get(), nullptr);
    save_set(out, copied.previous_day ? &copied.previous_day->filter() : nullptr, day);
}

void save_late_keys(state_encoder& out, const std::vector<admitted_key>& late, bool has_table) {
    out.number(static_cast<std::uint64_t>(late.size()));
    for (const admitted_key& each : late) {
        out.number(each.key);
        out.number(static_cast<std::uint8_t>((each.into.hour ? into_hour : 0) | (each.into.day ? into_day : 0) |
                                             (each.is_untold ? late_untold : 0)));
        if (has_table) out.number(each.combination);
    }
}

std::string save_tallies(commit_state& held, const refused_samples& samples) {
    std::string counts;
    text_sink sink{counts};
    state_encoder out{sink};
    held.hourly.refused_series.save(out);
    out.number(samples.read(refusing_window::hourly));
    held.daily.refused_series.save(out);
    out.number(samples.read(refusing_window::daily));
    for (const std::uint64_t over_limit : {held.hourly.over_limit, held.daily.over_limit}) out.number(over_limit);
    if (held.table) {
        held.active.refused_series.save(out);
        out.numbers(samples.read(refusing_window::active), held.active.over_limit);
    }
    counts.append(held.budgets.begin_snapshot());
    return counts;
}

/// Writes all up to the budgets. Later changes are not part of the snapshot.
/// @return false if the snapshot cannot show one moment.
bool begin_counts(limiter_state& state, const window_sets& copied, state_encoder& out) {
    catch_up(state.commit);
    std::string counts;
    late_keys::list late;  // always destroyed without the lock
    {
        const auto held = state.commit.lock();
        late = held->late.end();
        const auto current = state.sets.read();
        if (!late.complete || held->budgets.is_behind() || current->hour_span != copied.hour_span ||
            current->grace_end != copied.grace_end)
            return false;
        counts = save_tallies(*held, state.samples);
    }
    save_late_keys(out, late.entries, copied.table != nullptr);
    out.bytes(counts);
    return true;
}

/// @return false if the sink failed, or if all budgets changed meanwhile.
bool save_budgets(limiter_state& state, state_encoder& out) {
    for (bool more = true; more && out.good();) {
        std::string piece;
        {
            const auto held = state.commit.lock();
            if (!held->budgets.snapshot_holds()) return false;
            more = held->budgets.save_some(saved_per_piece, piece);
        }
        out.bytes(piece);
    }
    return out.good();
}

/// For each number a list of budgets; empty if it is not in use.
bool save_combinations(limiter_state& state, state_encoder& out) {
    const combination_number last = state.commit.lock()->budgets.active().last_number();
    out.number(last);
    for (combination_number next = 1; next <= last && out.good();) {
        std::string piece;
        text_sink sink{piece};
        state_encoder into{sink};
        const combination_number end = std::min(last, next + combinations_per_piece);
        {
            const auto held = state.commit.lock();
            for (; next <= end; ++next) {
                const auto budgets = held->budgets.active().budgets_of(next);
                into.number(static_cast<std::uint32_t>(budgets.size()));
                for (const auto each : budgets) into.number(each);
            }
        }
        out.bytes(piece);  // the sink writes to a file, and rests
    }
    return out.good();
}

/// Puts the combinations of a new table in place of the file's, and counts the series.
/// @param table null: this gate does not count active series.
bool load_combinations(state_decoder& in, series_table* table, budget_table& budgets) {
    const auto last = load_combination(in);
    if (!in.has(last * sizeof(std::uint32_t))) return false;
    std::vector<std::vector<active_series::budget_number>> lists(std::size_t{last} + 1);
    for (auto list = lists.begin() + 1; list != lists.end() && in.good(); ++list)
        for (auto left = in.number<std::uint32_t>(); left > 0 && in.good(); --left)
            if (const auto budget = budgets.number_of_saved(in.number<std::uint32_t>()); budget != 0)
                list->push_back(budget);
    if (!in.good()) return false;
    if (table == nullptr) return true;
    table->map_combinations([&](combination_number saved) -> combination_number {
        return saved > last || lists[saved].empty() ? 0 : budgets.active().join(lists[saved]);
    });
    return true;
}

/// Ends the snapshot on every path; otherwise budgets would be written early for nobody.
struct snapshot_end {
    void operator()(limiter_state* state) const noexcept {
        state->commit.lock()->budgets.end_snapshot();
        while (state->commit.lock()->budgets.active().free_kept(combinations_per_piece)) {
        }
    }
};

struct loaded_state {
    window_sets sets{};
    std::shared_ptr<series_table> table;  // null: not configured
    std::shared_ptr<admitted_set> hour;   // the sets, for writing
    std::shared_ptr<day_set> day;
    std::shared_ptr<admitted_set> hour_before;
    std::shared_ptr<day_set> day_before;
    window_tally hourly;
    window_tally daily;
    window_tally active;
    bool file_has_table = false;
    bool has_lapsed = false;
    std::uint64_t samples_active = 0;
    std::uint64_t samples_hourly = 0;
    std::uint64_t samples_daily = 0;
};

/// A gate with filters enters the series of a table into them.
/// @param rate of filters that the file lacks.
void load_table_into_filters(state_decoder& in, loaded_state& into, double rate) {
    const window_sets& sets = into.sets;
    const minute_number hour = minute_of(sets.hour_span.start), day = minute_of(sets.day_span.start);
    const auto make_day = [rate] { return std::make_shared<day_set>(make_set(0, 0, rate)); };
    if (!into.hour) into.hour = make_set(0, 0, rate);
    if (!into.day) into.day = make_day();
    if (!into.hour_before && sets.knows_hour_before) into.hour_before = make_set(0, 0, rate);
    if (!into.day_before && sets.in_grace()) into.day_before = hour == day ? make_day() : into.day;
    const auto enter = [&](std::uint64_t key, const series_mark& mark) {
        const std::uint64_t in_day = mark.is_day_key ? key : day_set::elsewhere(key);
        if (mark.seen >= day) insert_missing(into.day->filter(), in_day);
        if (mark.is_day_key) return;
        if (mark.seen >= hour) insert_missing(*into.hour, key);
        if (!into.hour_before || !mark.was_in_hour_before(hour)) return;
        insert_missing(*into.hour_before, key);
        if (into.day_before && hour == day) insert_missing(into.day_before->filter(), in_day);
    };
    load_table(in, [&enter](const table_part& part) {
        for (const auto& [key, mark] : part) enter(key, mark);
    });
}

/// @param rate of filters that are made of a table.
bool load_sets(state_decoder& in, loaded_state& into, double rate) {
    window_sets& sets = into.sets;
    sets.hour_span = hour_of(in.time<std::chrono::sys_seconds>());
    sets.day_span = day_of(in.time<std::chrono::sys_seconds>());
    sets.grace_end = in.time<std::chrono::sys_seconds>();
    set_mark day = load_mark(in);
    const bool has_table = into.file_has_table = day == set_mark::table;
    if (has_table) {
        const auto facts = in.number<std::uint8_t>();
        sets.knows_hour_before = (facts & 1) != 0;
        sets.went_back = (facts & 2) != 0;
        into.has_lapsed = (facts & 4) != 0;
        day = load_mark(in);
    }
    if (day == set_mark::follows) into.day = std::make_shared<day_set>(load_set(in));
    if (load_mark(in) == set_mark::follows) into.hour = load_set(in);
    if (load_mark(in) == set_mark::follows) into.hour_before = load_set(in);
    const set_mark previous_day = load_mark(in);
    if (previous_day == set_mark::as_day) into.day_before = into.day;
    if (previous_day == set_mark::follows) into.day_before = std::make_shared<day_set>(load_set(in));
    if (has_table && into.table) {
        bool is_first = true;
        load_table(in, [&](const table_part& part) {
            if (std::exchange(is_first, false))
                into.table =
                    std::make_shared<series_table>(estimated_series(part, part.size() + in.left() / entry_bytes));
            for (const auto& [key, mark] : part) into.table->fill_in(key, mark);
        });
    } else if (has_table)
        load_table_into_filters(in, into, rate);
    sets.hour = into.hour;
    sets.day = into.day;
    sets.previous_hour = into.hour_before;
    sets.previous_day = into.day_before;
    sets.table = into.table;
    if (!in.good() || (!into.table && (!into.day || !into.hour))) return false;
    const bool has_before = (into.table && sets.knows_hour_before) || (sets.previous_hour && sets.previous_day);
    return !sets.in_grace() || has_before;
}

void load_late_keys(state_decoder& in, loaded_state& into) {
    for (std::uint64_t left = in.count(late_keys::count_max); left > 0 && in.good(); --left) {
        const auto key = in.number<std::uint64_t>();
        const auto sets = in.number<std::uint8_t>();
        const auto combination = into.file_has_table ? load_combination(in) : 0;
        const bool in_hour = (sets & into_hour) != 0;
        if (into.table) {
            const std::uint64_t entered = in_hour ? key : day_set::elsewhere(key);
            const minute_number hour = minute_of(into.sets.hour_span.start);
            const series_mark mark = into.table->read().mark_of(entered);
            const bool is_in_hour = mark.seen >= hour;
            const bool was_before = mark.was_in_hour_before(hour);
            const bool untold_before = was_before && (is_in_hour ? mark.is_untold_before : mark.is_untold);
            into.table->fill_in(entered, {.seen = hour,
                                          .was_before = was_before,
                                          .is_day_key = !in_hour,
                                          .combination = combination,
                                          .is_outdated = combination != 0,
                                          .is_untold = (sets & late_untold) != 0 || (is_in_hour && mark.is_untold),
                                          .is_untold_before = untold_before});
            continue;
        }
        if (in_hour) insert_missing(*into.hour, key);
        if ((sets & into_day) != 0) insert_missing(into.day->filter(), day_set::elsewhere(key));
    }
}

void load_tallies(state_decoder& in, loaded_state& into) {
    into.hourly.refused_series.load(in);
    into.samples_hourly = in.number<std::uint64_t>();
    into.daily.refused_series.load(in);
    into.samples_daily = in.number<std::uint64_t>();
    into.hourly.over_limit = in.number<std::uint64_t>();
    into.daily.over_limit = in.number<std::uint64_t>();
    if (!into.file_has_table) return;
    into.active.refused_series.load(in);
    into.samples_active = in.number<std::uint64_t>();
    into.active.over_limit = in.number<std::uint64_t>();
}

void take_over(limiter_state& state, loaded_state&& loaded, budget_table&& budgets) {
    auto sets = std::make_unique<window_sets>(std::move(loaded.sets));  // nothing fails from here on
    const auto held = state.commit.lock();
    held->budgets = std::move(budgets);
    if (loaded.table) held->table = std::move(loaded.table);
    held->hour_begins = minute_of(sets->hour_span.start);
    held->knows_hour_before = sets->knows_hour_before;
    held->idle_before = 0;
    if (held->table) held->table->forget_before(held->remembers_since(sets->day_span));
    held->untold.miss();
    held->hour = std::move(loaded.hour);
    held->day = std::move(loaded.day);
    held->hourly = std::move(loaded.hourly);
    held->daily = std::move(loaded.daily);
    held->active = std::move(loaded.active);
    state.samples.in(refusing_window::hourly) = loaded.samples_hourly;
    state.samples.in(refusing_window::daily) = loaded.samples_daily;
    state.samples.in(refusing_window::active) = loaded.samples_active;
    if (loaded.has_lapsed) state.lapsed_hour = hour_number(sets->hour_span.start);
    sets->rules = held->budgets.rules();
    sets->take_grace(*sets->rules);
    sets->step_back = state.sets.read()->step_back;
    if (state.is_shared()) sets->lapse = sets->hour_span.start + sets->rules->incumbent_grace;
    bound_sets(*held, *sets->rules);
    publish(state.sets, *held, std::move(sets));
}

}  // namespace

bool save_snapshot(series_limiter& limiter, state_sink& sink) {
    limiter_state& state = limiter.state();
    state_encoder out{sink};
    std::vector<admitted_key> abandoned;  // left by a failed save; destroyed without the lock
    const window_sets copied = [&] {
        const auto held = state.commit.lock();
        abandoned = held->late.begin();
        held->budgets.active().keep_freed();
        return *state.sets.read();
    }();
    const std::unique_ptr<limiter_state, snapshot_end> end{&state};
    out.time(copied.hour_span.start);
    out.time(copied.day_span.start);
    out.time(copied.grace_end);
    save_sets(out, copied, state.lapsed_hour);
    if (copied.table) save_table(state.commit, out, copied);
    return begin_counts(state, copied, out) && save_budgets(state, out) &&
           (!copied.table || save_combinations(state, out));
}

bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now) {
    limiter_state& state = limiter.state();
    state_decoder in{source};
    loaded_state loaded;
    if (state.sets.read()->table) loaded.table = std::make_shared<series_table>();
    if (!load_sets(in, loaded, state.sets.read()->rules->false_positive_rate)) return false;
    load_late_keys(in, loaded);
    load_tallies(in, loaded);
    budget_table budgets{state.sets.read()->rules, state.key, loaded.table ? set_kind::exact : set_kind::bloom};
    budgets.load(in, loaded.file_has_table ? set_kind::exact : set_kind::bloom);
    if (loaded.file_has_table && !load_combinations(in, loaded.table.get(), budgets)) return false;
    if (!loaded.file_has_table) budgets.know_no_active_series();
    if (!in.good() || !source.intact()) return false;
    take_over(state, std::move(loaded), std::move(budgets));
    resume_windows(state, now);
    return true;
}

}  // namespace seriesgate
