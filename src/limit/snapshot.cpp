// admission::save and admission::restore: the limiter's state as bytes. The format, little-endian:
//
//   windows   starts of hour and day, end of the grace, each in seconds since 1970
//   sets      hour, day, previous hour, previous day: a byte (0 none, 1 follows, 2 the same as the day's), then the set
//   meanwhile keys that the sets got while they were being copied; a byte each: 1 the hour's, 2 the day's, 3 both
//   refusals  sketch and samples, hourly and daily
//   over      series admitted over a limit to complete histograms, hourly and daily
//   budgets   see budget_book::save
//
// Around it the store puts magic, version and checksum (store/snapshot_file.hpp).
#include <utility>

#include "limit/admission.hpp"

namespace seriesgate {
namespace {

enum class set_mark : std::uint8_t { none, follows, as_day };

/// Which sets a key belongs to.
constexpr unsigned into_hour = 1;
constexpr unsigned into_day = 2;

/// A bound for damage; a copy takes a second or so, in which millions may be admitted.
constexpr std::uint64_t meanwhile_max = std::uint64_t{1} << 32;

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

std::shared_ptr<admitted_set> load_set(state_decoder& in, const std::shared_ptr<admitted_set>& day) {
    switch (static_cast<set_mark>(in.number<std::uint8_t>())) {
        case set_mark::follows: {
            auto set = admitted_set::restore(in);
            if (!set) in.fail();
            return set;
        }
        case set_mark::as_day:
            return day;
        default:
            return nullptr;
    }
}

void insert_missing(admitted_set& set, std::uint64_t fingerprint) {
    if (!set.contains(fingerprint)) set.insert(fingerprint);
}

}  // namespace

bool admission::save(state_sink& sink) {
    state_encoder out{sink};
    const windows copied = [this] {
        const std::scoped_lock lock{commit_lock_};
        recording_ = true;
        recorded_.clear();
        return *windows_.read();
    }();
    save_time(out, copied.hour_span.start);
    save_time(out, copied.day_span.start);
    save_time(out, copied.grace_end);
    save_set(out, copied.day.get(), nullptr);
    save_set(out, copied.hour.get(), nullptr);
    save_set(out, copied.previous_hour.get(), nullptr);
    save_set(out, copied.previous_day.get(), copied.day.get());

    // The rest is small: it is put together under the lock and written after.
    struct text_sink : state_sink {
        std::string text;
        bool write(std::string_view bytes) override {
            text.append(bytes);
            return true;
        }
    } rest;
    state_encoder rest_out{rest};
    bool same_windows = false;
    {
        const std::scoped_lock lock{commit_lock_};
        recording_ = false;
        const auto current = windows_.read();
        same_windows = current->hour == copied.hour && current->grace_end == copied.grace_end;
        rest_out.number(static_cast<std::uint64_t>(recorded_.size()));
        for (const admitted_meanwhile& each : recorded_) {
            rest_out.number(each.key);
            rest_out.number(static_cast<std::uint8_t>((each.in_hour ? into_hour : 0) | (each.in_day ? into_day : 0)));
        }
        for (const refusals* of : {&hourly_refusals_, &daily_refusals_}) {
            of->series.save(rest_out);
            rest_out.number(of->samples.load(std::memory_order_relaxed));
        }
        for (const std::uint64_t over_limit : {hourly_over_limit_, daily_over_limit_}) rest_out.number(over_limit);
        book_.save(rest_out);
        recorded_ = {};
    }
    out.bytes(rest.text);
    return out.good() && same_windows;
}

bool admission::restore(state_source& source, time_point now) {
    state_decoder in{source};
    auto loaded = std::make_unique<windows>();
    loaded->hour_span = hour_of(load_time(in));
    loaded->day_span = day_of(load_time(in));
    loaded->grace_end = load_time(in);
    loaded->day = load_set(in, nullptr);
    loaded->hour = load_set(in, nullptr);
    loaded->previous_hour = load_set(in, nullptr);
    loaded->previous_day = load_set(in, loaded->day);
    if (!in.good() || !loaded->day || !loaded->hour) return false;
    if (loaded->in_grace() && (!loaded->previous_hour || !loaded->previous_day)) return false;

    for (std::uint64_t left = in.count(meanwhile_max); left > 0 && in.good(); --left) {
        const auto key = in.number<std::uint64_t>();
        const auto into = in.number<std::uint8_t>();
        if ((into & into_hour) != 0) insert_missing(*loaded->hour, key);
        if ((into & into_day) != 0) insert_missing(*loaded->day, key);
    }
    distinct_sketch hourly_series;
    distinct_sketch daily_series;
    hourly_series.load(in);
    const auto hourly_samples = in.number<std::uint64_t>();
    daily_series.load(in);
    const auto daily_samples = in.number<std::uint64_t>();
    const auto hourly_over_limit = in.number<std::uint64_t>();
    const auto daily_over_limit = in.number<std::uint64_t>();
    budget_book book{book_.rules()};
    book.load(in);
    if (!in.good() || !source.intact()) return false;

    {
        const std::scoped_lock lock{commit_lock_};
        book_ = std::move(book);
        hourly_refusals_.series = std::move(hourly_series);
        hourly_refusals_.samples = hourly_samples;
        daily_refusals_.series = std::move(daily_series);
        daily_refusals_.samples = daily_samples;
        hourly_over_limit_ = hourly_over_limit;
        daily_over_limit_ = daily_over_limit;
        loaded->rules = book_.rules();
        bound_sets(*loaded, *loaded->rules);
        windows_.publish(std::move(loaded));
    }
    if (!windows_.read()->cover(now)) advance(now);
    return true;
}

}  // namespace seriesgate
