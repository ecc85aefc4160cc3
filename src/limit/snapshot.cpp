// The limiter's state as bytes, little-endian:
//
//   windows   starts of hour and day, end of the grace, each in seconds since 1970
//   sets      with seriesSet: exact a byte 3 first, and a byte (1 the hour before is known, 2 the clock went back in
//   the
//             day). Day, hour, previous hour, previous day: a byte (0 none, 1 follows, 2 the same as the day's), then
//             the set
//   table     with seriesSet: exact. For each partition the number of its series, and of each the fingerprint (8
//   bytes),
//             the minute (4) and a byte (1 was there in the hour before, 2 stands in the day alone); all bits set in
//             place of a number: no more
//   late      keys added to the sets during their copy; a byte each: 1 the hour's, 2 the day's, 3 both
//   refusals  sketch and samples, hourly and daily
//   over      series admitted over a limit to complete histograms, hourly and daily
//   budgets   see budget_table::begin_snapshot and save_pair
//
// process/state_file.hpp adds magic, version and checksum. The snapshot shows the moment when the copy of the
// filters ends. late_keys records what is admitted meanwhile; budgets that change after that moment are written before.
#include "limit/snapshot.hpp"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

#include "limit/budget_table.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "limit/rules.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate {
namespace {

enum class set_mark : std::uint8_t { none, follows, as_day, table };

constexpr unsigned into_hour = 1;
constexpr unsigned into_day = 2;

/// Budgets written under one hold of the lock: each has up to 32 KiB of sketches.
constexpr std::size_t saved_per_piece = 8;

void save_time(state_encoder& out, std::chrono::sys_seconds moment) {
    out.number(static_cast<std::int64_t>(moment.time_since_epoch().count()));
}

/// A moment from 1970 to 2200: time_point can hold it, and a day more.
std::chrono::sys_seconds load_time(state_decoder& in) {
    constexpr std::chrono::sys_seconds last = std::chrono::sys_days{std::chrono::year{2200} / 1 / 1};
    const std::chrono::sys_seconds moment{std::chrono::seconds{in.number<std::int64_t>()}};
    if (moment.time_since_epoch().count() < 0 || moment > last) in.fail();
    return in.good() ? moment : std::chrono::sys_seconds{};
}

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
constexpr unsigned was_before = 1, is_day_key = 2;
constexpr std::uint64_t entry_bytes = 13;

/// Copies one partition at a time under the lock, and writes it without.
void save_table(guarded<commit_state>& counts, state_encoder& out, const window_sets& copied) {
    std::vector<std::pair<std::uint64_t, series_mark>> part;
    part.reserve(std::size_t{1} << 14);  // the lock is not held while memory is made
    std::uint64_t next = 0;
    for (bool more = true; more && out.good();) {
        part.clear();
        {
            const auto held = counts.lock();
            more = copied.table->visit_some(next, [&part](std::uint64_t fingerprint, const series_mark& mark) {
                part.emplace_back(fingerprint, mark);
            });
        }
        out.number(static_cast<std::uint64_t>(part.size()));
        for (const auto& [fingerprint, mark] : part) {
            out.number(fingerprint);
            out.number(mark.seen);
            out.number(
                static_cast<std::uint8_t>((mark.was_before ? was_before : 0) | (mark.is_day_key ? is_day_key : 0)));
        }
    }
    out.number(no_more);
}

/// Calls take(fingerprint, mark) for each series.
template <class Take>
void load_table(state_decoder& in, const Take& take) {
    while (in.good()) {
        const auto count = in.number<std::uint64_t>();
        if (count == no_more || !in.has(std::min(count, no_more / entry_bytes) * entry_bytes)) return;
        for (std::uint64_t i = 0; i < count && in.good(); ++i) {
            const auto fingerprint = in.number<std::uint64_t>();
            const auto seen = in.number<minute_number>();
            const auto bits = in.number<std::uint8_t>();
            if (in.good())
                take(fingerprint,
                     series_mark{
                         .seen = seen, .was_before = (bits & was_before) != 0, .is_day_key = (bits & is_day_key) != 0});
        }
    }
}

template <class Set>
void insert_missing(Set& set, admitted_set& filter, std::uint64_t key) {
    if (set.contains(key)) return;
    if (!filter.has_room(1)) filter.adopt(filter.prepare_segment());
    set.insert(key);
}

void save_sets(state_encoder& out, const window_sets& copied) {
    const admitted_set* const day = copied.day ? &copied.day->filter() : nullptr;
    if (copied.table) {
        out.number(static_cast<std::uint8_t>(set_mark::table));
        out.number(static_cast<std::uint8_t>((copied.knows_hour_before ? 1 : 0) | (copied.went_back ? 2 : 0)));
    }
    save_set(out, day, nullptr);
    save_set(out, copied.hour.get(), nullptr);
    save_set(out, copied.previous_hour.get(), nullptr);
    save_set(out, copied.previous_day ? &copied.previous_day->filter() : nullptr, day);
}

void save_late_keys(state_encoder& out, const std::vector<late_keys::entry>& late) {
    out.number(static_cast<std::uint64_t>(late.size()));
    for (const late_keys::entry& each : late) {
        out.number(each.key);
        out.number(static_cast<std::uint8_t>((each.into.hour ? into_hour : 0) | (each.into.day ? into_day : 0)));
    }
}

std::string save_tallies(commit_state& held, const refused_samples& samples) {
    std::string counts;
    text_sink sink{counts};
    state_encoder out{sink};
    held.hourly.refused_series.save(out);
    out.number(samples.hourly.load(std::memory_order_relaxed));
    held.daily.refused_series.save(out);
    out.number(samples.daily.load(std::memory_order_relaxed));
    for (const std::uint64_t over_limit : {held.hourly.over_limit, held.daily.over_limit}) out.number(over_limit);
    counts.append(held.budgets.begin_snapshot());
    return counts;
}

/// Writes all up to the budgets. Later changes are not part of the snapshot.
/// @return false if the snapshot cannot show one moment.
bool begin_counts(limiter_state& state, const window_sets& copied, state_encoder& out) {
    catch_up(state.counts);
    std::string counts;
    late_keys::list late;  // always destroyed without the lock
    {
        const auto held = state.counts.lock();
        late = held->late.end();
        const auto current = state.sets.read();
        if (!late.complete || held->budgets.is_behind() || current->hour_span != copied.hour_span ||
            current->grace_end != copied.grace_end)
            return false;
        counts = save_tallies(*held, state.samples);
    }
    save_late_keys(out, late.entries);
    out.bytes(counts);
    return true;
}

/// @return false if the sink failed, or if all budgets changed meanwhile.
bool save_budgets(limiter_state& state, state_encoder& out) {
    for (bool more = true; more && out.good();) {
        std::string piece;
        {
            const auto held = state.counts.lock();
            if (!held->budgets.snapshot_holds()) return false;
            more = held->budgets.save_some(saved_per_piece, piece);
        }
        out.bytes(piece);
    }
    return out.good();
}

/// Ends the snapshot on every path; otherwise budgets would be written early for nobody.
class snapshot_end {
    limiter_state& state_;

  public:
    explicit snapshot_end(limiter_state& state) : state_(state) {}
    snapshot_end(const snapshot_end&) = delete;
    snapshot_end& operator=(const snapshot_end&) = delete;
    ~snapshot_end() { state_.counts.lock()->budgets.end_snapshot(); }
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
    const auto insert = [](admitted_set& filter, std::uint64_t key) { insert_missing(filter, filter, key); };
    load_table(in, [&](std::uint64_t key, const series_mark& mark) {
        const std::uint64_t in_day = mark.is_day_key ? key : day_set::elsewhere(key);
        if (mark.seen >= day) insert(into.day->filter(), in_day);
        if (mark.is_day_key) return;
        if (mark.seen >= hour) insert(*into.hour, key);
        if (!into.hour_before || (mark.seen >= hour ? !mark.was_before : mark.seen + 60 < hour)) return;
        insert(*into.hour_before, key);
        if (into.day_before && hour == day) insert(into.day_before->filter(), in_day);
    });
}

/// @param rate of filters that are made of a table.
bool load_sets(state_decoder& in, loaded_state& into, double rate) {
    window_sets& sets = into.sets;
    sets.hour_span = hour_of(load_time(in));
    sets.day_span = day_of(load_time(in));
    sets.grace_end = load_time(in);
    set_mark day = load_mark(in);
    const bool has_table = day == set_mark::table;
    if (has_table) {
        const auto facts = in.number<std::uint8_t>();
        sets.knows_hour_before = (facts & 1) != 0;
        sets.went_back = (facts & 2) != 0;
        day = load_mark(in);
    }
    if (day == set_mark::follows) into.day = std::make_shared<day_set>(load_set(in));
    if (load_mark(in) == set_mark::follows) into.hour = load_set(in);
    if (load_mark(in) == set_mark::follows) into.hour_before = load_set(in);
    const set_mark previous_day = load_mark(in);
    if (previous_day == set_mark::as_day) into.day_before = into.day;
    if (previous_day == set_mark::follows) into.day_before = std::make_shared<day_set>(load_set(in));
    if (has_table && into.table) {
        into.table = std::make_shared<series_table>(in.left() / entry_bytes);  // they come by partition
        load_table(in, [&into](std::uint64_t key, const series_mark& mark) { into.table->fill_in(key, mark); });
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
        const bool in_hour = (sets & into_hour) != 0;
        if (into.table) {
            const std::uint64_t entered = in_hour ? key : day_set::elsewhere(key);
            const minute_number hour = minute_of(into.sets.hour_span.start);
            const series_mark mark = into.table->read().mark_of(entered);
            const bool was_before = mark.seen >= hour ? mark.was_before : mark.seen + 60 >= hour;
            into.table->fill_in(entered, {.seen = hour, .was_before = was_before, .is_day_key = !in_hour});
            continue;
        }
        if (in_hour) insert_missing(*into.hour, *into.hour, key);
        if ((sets & into_day) != 0) insert_missing(*into.day, into.day->filter(), key);
    }
}

void load_tallies(state_decoder& in, loaded_state& into) {
    into.hourly.refused_series.load(in);
    into.samples_hourly = in.number<std::uint64_t>();
    into.daily.refused_series.load(in);
    into.samples_daily = in.number<std::uint64_t>();
    into.hourly.over_limit = in.number<std::uint64_t>();
    into.daily.over_limit = in.number<std::uint64_t>();
}

void take_over(limiter_state& state, loaded_state&& loaded, budget_table&& book) {
    auto sets = std::make_unique<window_sets>(std::move(loaded.sets));  // nothing fails from here on
    const auto held = state.counts.lock();
    held->budgets = std::move(book);
    if (loaded.table) held->table = std::move(loaded.table);
    held->hour_begins = minute_of(sets->hour_span.start);
    held->knows_hour_before = sets->knows_hour_before;
    if (held->table) held->table->forget_before(std::min(minute_of(sets->day_span.start), held->hour_begins - 60));
    held->hour = std::move(loaded.hour);
    held->day = std::move(loaded.day);
    held->hourly = std::move(loaded.hourly);
    held->daily = std::move(loaded.daily);
    state.samples.hourly = loaded.samples_hourly;
    state.samples.daily = loaded.samples_daily;
    sets->rules = held->budgets.rules();
    bound_sets(*held, *sets->rules);
    state.sets.publish(*held, std::move(sets));
}

}  // namespace

bool save_snapshot(series_limiter& limiter, state_sink& sink) {
    limiter_state& state = limiter.state();
    state_encoder out{sink};
    std::vector<late_keys::entry> abandoned;  // left by a failed save; destroyed without the lock
    const window_sets copied = [&] {
        const auto held = state.counts.lock();
        abandoned = held->late.begin();
        return *state.sets.read();
    }();
    save_time(out, copied.hour_span.start);
    save_time(out, copied.day_span.start);
    save_time(out, copied.grace_end);
    save_sets(out, copied);
    if (copied.table) save_table(state.counts, out, copied);
    const snapshot_end end{state};
    return begin_counts(state, copied, out) && save_budgets(state, out);
}

bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now) {
    limiter_state& state = limiter.state();
    state_decoder in{source};
    loaded_state loaded;
    if (state.sets.read()->table) loaded.table = std::make_shared<series_table>();
    if (!load_sets(in, loaded, state.sets.read()->rules->false_positive_rate)) return false;
    load_late_keys(in, loaded);
    load_tallies(in, loaded);
    budget_table book{state.sets.read()->rules, state.key};
    book.load(in);
    if (!in.good() || !source.intact()) return false;
    take_over(state, std::move(loaded), std::move(book));
    limiter.time().resume(now);
    return true;
}

}  // namespace seriesgate
