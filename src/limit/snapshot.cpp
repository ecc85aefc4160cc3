// The limiter's state as bytes. The format, little-endian:
//
//   windows   starts of hour and day, end of the grace, each in seconds since 1970
//   sets      hour, day, previous hour, previous day: a byte (0 none, 1 follows, 2 the same as the day's), then the set
//   late      keys that the sets got while they were being copied; a byte each: 1 the hour's, 2 the day's, 3 both
//   refusals  sketch and samples, hourly and daily
//   over      series admitted over a limit to complete histograms, hourly and daily
//   budgets   see budget_records.cpp
//
// Around it state/snapshot_file.hpp puts magic, version and checksum.
//
// All of it is of one moment, the end of copying the filters: what is admitted while they are copied is written down by
// the ledger, and so is a budget that changes after that moment and has not been written yet.
#include "limit/snapshot.hpp"

#include <cassert>
#include <utility>

#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "limit/windows.hpp"

namespace seriesgate {
namespace {

enum class set_mark : std::uint8_t { none, follows, as_day };

/// Which sets a key belongs to.
constexpr unsigned into_hour = 1;
constexpr unsigned into_day = 2;

/// Budgets that are written under one hold of the lock: each has up to 32 KiB of sketches.
constexpr std::size_t saved_per_piece = 8;

void save_time(state_encoder& out, std::chrono::sys_seconds moment) {
    out.number(static_cast<std::int64_t>(moment.time_since_epoch().count()));
}

/// A moment that a time_point can hold, with room for a day: 1970 to 2200.
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

template <class Set>
void insert_missing(Set& set, admitted_set& filter, std::uint64_t key) {
    if (set.contains(key)) return;
    if (!filter.has_room(1)) filter.adopt(filter.prepare_segment());
    set.insert(key);
}

void save_sets(state_encoder& out, const window_sets& copied) {
    const admitted_set* const day = &copied.day->filter();
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

/// What is counted over all budgets, then what goes before them.
std::string save_tallies(ledger& held, const refused_samples& samples) {
    std::string counts;
    text_sink sink{counts};
    state_encoder out{sink};
    held.hourly.refused_series.save(out);
    out.number(samples.hourly.load(std::memory_order_relaxed));
    held.daily.refused_series.save(out);
    out.number(samples.daily.load(std::memory_order_relaxed));
    for (const std::uint64_t over_limit : {held.hourly.over_limit, held.daily.over_limit}) out.number(over_limit);
    counts.append(held.book.begin_snapshot());
    return counts;
}

/// Up to the budgets. From here on nothing that happens is part of the snapshot.
/// @return false if it cannot be of one moment.
bool begin_counts(limiter_state& state, const window_sets& copied, state_encoder& out) {
    catch_up(state.counts);
    std::string counts;
    late_keys::list late;  // destroyed without the lock, whatever happens
    {
        const auto held = state.counts.lock();
        late = held->late.end();
        const auto current = state.sets.read();
        if (!late.complete || held->book.is_behind() || current->hour != copied.hour ||
            current->grace_end != copied.grace_end)
            return false;
        counts = save_tallies(*held, state.samples);
    }
    save_late_keys(out, late.entries);
    out.bytes(counts);
    return true;
}

/// @return false if the sink failed, or something happened to all budgets.
bool save_budgets(limiter_state& state, state_encoder& out) {
    for (bool more = true; more && out.good();) {
        std::string piece;
        {
            const auto held = state.counts.lock();
            if (!held->book.snapshot_holds()) return false;
            more = held->book.save_some(saved_per_piece, piece);
        }
        out.bytes(piece);
    }
    return out.good();
}

/// Whatever comes, budgets are not written early for a snapshot that nobody makes.
class snapshot_end {
    limiter_state& state_;

  public:
    explicit snapshot_end(limiter_state& state) : state_(state) {}
    snapshot_end(const snapshot_end&) = delete;
    snapshot_end& operator=(const snapshot_end&) = delete;
    ~snapshot_end() { state_.counts.lock()->book.end_snapshot(); }
};

/// All that is in a file, before it is put to use.
struct loaded_state {
    window_sets sets{};
    std::shared_ptr<admitted_set> hour;  // as in sets, for writing
    std::shared_ptr<day_set> day;
    window_tally hourly;
    window_tally daily;
    std::uint64_t samples_hourly = 0;
    std::uint64_t samples_daily = 0;
};

/// @return false if it makes no sense.
bool load_sets(state_decoder& in, loaded_state& into) {
    window_sets& sets = into.sets;
    sets.hour_span = hour_of(load_time(in));
    sets.day_span = day_of(load_time(in));
    sets.grace_end = load_time(in);
    if (load_mark(in) == set_mark::follows) into.day = std::make_shared<day_set>(load_set(in));
    if (load_mark(in) == set_mark::follows) into.hour = load_set(in);
    if (load_mark(in) == set_mark::follows) sets.previous_hour = load_set(in);
    const set_mark previous_day = load_mark(in);
    if (previous_day == set_mark::as_day) sets.previous_day = into.day;
    if (previous_day == set_mark::follows) sets.previous_day = std::make_shared<day_set>(load_set(in));
    sets.hour = into.hour;
    sets.day = into.day;
    if (!in.good() || !into.day || !into.hour) return false;
    return !sets.in_grace() || (sets.previous_hour && sets.previous_day);
}

void load_late_keys(state_decoder& in, loaded_state& into) {
    for (std::uint64_t left = in.count(late_keys::count_max); left > 0 && in.good(); --left) {
        const auto key = in.number<std::uint64_t>();
        const auto sets = in.number<std::uint8_t>();
        if ((sets & into_hour) != 0) insert_missing(*into.hour, *into.hour, key);
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

void take_over(limiter_state& state, loaded_state&& loaded, budget_book&& book) {
    auto sets = std::make_unique<window_sets>(std::move(loaded.sets));  // from here on nothing fails
    const auto held = state.counts.lock();
    held->book = std::move(book);
    held->hour = std::move(loaded.hour);
    held->day = std::move(loaded.day);
    held->hourly = std::move(loaded.hourly);
    held->daily = std::move(loaded.daily);
    state.samples.hourly = loaded.samples_hourly;
    state.samples.daily = loaded.samples_daily;
    sets->rules = held->book.rules();
    bound_sets(*held, *sets->rules);
    state.sets.publish(*held, std::move(sets));
}

}  // namespace

bool save_snapshot(series_limiter& limiter, state_sink& sink) {
    limiter_state& state = limiter.state();
    state_encoder out{sink};
    std::vector<late_keys::entry> abandoned;  // by a save that ended badly; destroyed without the lock
    const window_sets copied = [&] {
        const auto held = state.counts.lock();
        abandoned = held->late.begin();
        return *state.sets.read();
    }();
    save_time(out, copied.hour_span.start);
    save_time(out, copied.day_span.start);
    save_time(out, copied.grace_end);
    save_sets(out, copied);
    const snapshot_end end{state};
    return begin_counts(state, copied, out) && save_budgets(state, out);
}

bool restore_snapshot(series_limiter& limiter, state_source& source, time_point now) {
    limiter_state& state = limiter.state();
    state_decoder in{source};
    loaded_state loaded;
    if (!load_sets(in, loaded)) return false;
    load_late_keys(in, loaded);
    load_tallies(in, loaded);
    budget_book book{state.sets.read()->rules, state.key};
    book.load(in);
    if (!in.good() || !source.intact()) return false;
    take_over(state, std::move(loaded), std::move(book));
    limiter.time().resume(now);
    return true;
}

}  // namespace seriesgate
