// series_limiter::save and series_limiter::restore: the limiter's state as bytes. The format, little-endian:
//
//   windows   starts of hour and day, end of the grace, each in seconds since 1970
//   sets      hour, day, previous hour, previous day: a byte (0 none, 1 follows, 2 the same as the day's), then the set
//   meanwhile keys that the sets got while they were being copied; a byte each: 1 the hour's, 2 the day's, 3 both
//   refusals  sketch and samples, hourly and daily
//   over      series admitted over a limit to complete histograms, hourly and daily
//   budgets   see budget_records.cpp
//
// Around it the store puts magic, version and checksum (store/snapshot_file.hpp).
//
// All of it is of one moment, the end of copying the filters: what is admitted while they are copied is written down by
// the commits, and so is a budget that changes after that moment and has not been written yet.
#include <utility>

#include "limit/limiter.hpp"

namespace seriesgate {
namespace {

enum class set_mark : std::uint8_t { none, follows, as_day };

/// Which sets a key belongs to.
constexpr unsigned into_hour = 1;
constexpr unsigned into_day = 2;

/// What is admitted while the filters are being copied, at most: 64 MiB. Beyond, there is too much going on for a
/// snapshot.
constexpr std::size_t meanwhile_max = std::size_t{1} << 22;

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

}  // namespace

void series_limiter::record(std::uint64_t key, bool in_hour, bool in_day) {
    if (recorded_.size() < meanwhile_max) {
        recorded_.push_back({.key = key, .in_hour = in_hour, .in_day = in_day});
    } else {
        recording_ = false;  // see save()
    }
}

bool series_limiter::save(state_sink& sink) {
    state_encoder out{sink};
    std::vector<admitted_meanwhile> recorded;
    const windows copied = [&] {
        const std::scoped_lock lock{commit_lock_};
        recording_ = true;
        recorded.swap(recorded_);  // of a save that ended badly
        return *windows_.read();
    }();
    recorded.clear();
    save_time(out, copied.hour_span.start);
    save_time(out, copied.day_span.start);
    save_time(out, copied.grace_end);
    save_set(out, &copied.day->filter(), nullptr);
    save_set(out, copied.hour.get(), nullptr);
    save_set(out, copied.previous_hour.get(), nullptr);
    save_set(out, copied.previous_day ? &copied.previous_day->filter() : nullptr, &copied.day->filter());

    bool more = begin_saving_counts(copied, recorded, out);
    const bool begun = more;
    while (more) {
        std::string piece;
        {
            const std::scoped_lock lock{commit_lock_};
            if (!counts_.book.snapshot_holds()) return false;  // a new hour, or other rules
            more = counts_.book.save_some(saved_per_piece, piece);
        }
        out.bytes(piece);
        if (!out.good()) more = false;
    }
    const std::scoped_lock lock{commit_lock_};
    counts_.book.end_snapshot();
    return begun && out.good();
}

/// Up to the budgets. From here on nothing that happens is part of the snapshot.
/// @return false if it cannot be of one moment.
bool series_limiter::begin_saving_counts(const windows& copied, std::vector<admitted_meanwhile>& recorded,
                                         state_encoder& out) {
    catch_up();
    std::string counts;
    {
        const std::scoped_lock lock{commit_lock_};
        const bool complete = std::exchange(recording_, false);
        recorded.swap(recorded_);
        const auto current = windows_.read();
        if (!complete || counts_.book.is_behind() || current->hour != copied.hour ||
            current->grace_end != copied.grace_end)
            return false;
        text_sink sink{counts};
        state_encoder of_counts{sink};
        for (const refusals* of : {&counts_.hourly, &counts_.daily}) {
            of->series.save(of_counts);
            of_counts.number(of->samples.load(std::memory_order_relaxed));
        }
        for (const std::uint64_t over_limit : {counts_.hourly_over_limit, counts_.daily_over_limit})
            of_counts.number(over_limit);
        counts.append(counts_.book.begin_snapshot());
    }
    out.number(static_cast<std::uint64_t>(recorded.size()));
    for (const admitted_meanwhile& each : recorded) {
        out.number(each.key);
        out.number(static_cast<std::uint8_t>((each.in_hour ? into_hour : 0) | (each.in_day ? into_day : 0)));
    }
    out.bytes(counts);
    return true;
}

bool series_limiter::restore(state_source& source, time_point now) {
    state_decoder in{source};
    auto loaded = std::make_unique<windows>();
    loaded->hour_span = hour_of(load_time(in));
    loaded->day_span = day_of(load_time(in));
    loaded->grace_end = load_time(in);
    if (load_mark(in) == set_mark::follows) loaded->day = std::make_shared<day_set>(load_set(in));
    if (load_mark(in) == set_mark::follows) loaded->hour = load_set(in);
    if (load_mark(in) == set_mark::follows) loaded->previous_hour = load_set(in);
    const set_mark previous_day = load_mark(in);
    if (previous_day == set_mark::as_day) loaded->previous_day = loaded->day;
    if (previous_day == set_mark::follows) loaded->previous_day = std::make_shared<day_set>(load_set(in));
    if (!in.good() || !loaded->day || !loaded->hour) return false;
    if (loaded->in_grace() && (!loaded->previous_hour || !loaded->previous_day)) return false;

    for (std::uint64_t left = in.count(meanwhile_max); left > 0 && in.good(); --left) {
        const auto key = in.number<std::uint64_t>();
        const auto into = in.number<std::uint8_t>();
        if ((into & into_hour) != 0) insert_missing(*loaded->hour, *loaded->hour, key);
        if ((into & into_day) != 0) insert_missing(*loaded->day, loaded->day->filter(), key);
    }
    distinct_sketch hourly_series;
    distinct_sketch daily_series;
    hourly_series.load(in);
    const auto hourly_samples = in.number<std::uint64_t>();
    daily_series.load(in);
    const auto daily_samples = in.number<std::uint64_t>();
    const auto hourly_over_limit = in.number<std::uint64_t>();
    const auto daily_over_limit = in.number<std::uint64_t>();
    budget_book book{windows_.read()->rules, key_};
    book.load(in);
    if (!in.good() || !source.intact()) return false;

    {
        const std::scoped_lock lock{commit_lock_};
        counts_.book = std::move(book);
        counts_.hourly.series = std::move(hourly_series);
        counts_.hourly.samples = hourly_samples;
        counts_.daily.series = std::move(daily_series);
        counts_.daily.samples = daily_samples;
        counts_.hourly_over_limit = hourly_over_limit;
        counts_.daily_over_limit = daily_over_limit;
        loaded->rules = counts_.book.rules();
        bound_sets(*loaded, *loaded->rules);
        windows_.publish(std::move(loaded));
    }
    catch_up();
    if (!windows_.read()->cover(now)) {
        advance(now);
        if (windows_.read()->leap) believe_leap(now);  // time has passed while nobody was there to see it
    }
    return true;
}

}  // namespace seriesgate
