#include "talkers/talkers.hpp"

#include <algorithm>
#include <utility>

namespace seriesgate {
namespace {

/// Under one hold of the lock: some tens of microseconds.
constexpr std::size_t entries_per_piece = 64;

}  // namespace

talkers::talkers(std::span<const std::string> labels, const hash_key& hash, time_point now)
    : labels_(labels.begin(), labels.end()),
      none_(labels, hash),
      arrived_(labels, hash),
      refused_(labels, hash),
      hour_(hour_of(now)) {}

void talkers::note(talker_kind kind, std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
                   label_source& labels, const request_sender& sender, time_point now) {
    while (!entries.empty()) {
        const auto piece = entries.first(std::min(entries.size(), entries_per_piece));
        entries = entries.subspan(piece.size());
        if (kind == talker_kind::returned)
            sample_returned(offered, piece, labels, sender.tenant);
        else
            count(kind, offered, piece, labels, sender, now);
    }
}

void talkers::count(talker_kind kind, std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
                    label_source& labels, const request_sender& sender, time_point now) {
    auto held = of(kind).lock();
    held->counted.raise_to(level_of(kind).load(std::memory_order_relaxed));
    const auto samples = samples_.lock();
    series_sample& sample = kind == talker_kind::refused ? samples->refused() : samples->known();
    sample.raise_to(level_of(kind).load(std::memory_order_relaxed));
    for (const std::uint32_t entry : entries) {
        const std::uint64_t series = offered[entry].fingerprint;
        const std::uint64_t weight = held->counted.weigh(series);
        if (weight == 0) continue;
        const auto shown = labels.labels(entry);
        held->hour.count(shown, sender, {.counted = weight, .watched = held->watched.weigh(series)}, now);
        sample.put(series, shown, sender.tenant, now);
    }
    level& shown = level_of(kind);
    if (shown.load(std::memory_order_relaxed) < held->counted.level()) shown = held->counted.level();
}

void talkers::sample_returned(std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
                              label_source& labels, std::string_view tenant) {
    const auto samples = samples_.lock();
    level& shown = level_of(talker_kind::returned);
    if (const unsigned asked = shown.load(std::memory_order_relaxed); asked > samples->level_back())
        samples->known().raise_to(asked);
    for (const std::uint32_t entry : entries) {
        const std::uint64_t series = offered[entry].fingerprint;
        if (samples->wants_back(series)) samples->come_back(series, labels.labels(entry), tenant);
    }
    if (shown.load(std::memory_order_relaxed) < samples->level_back()) shown = samples->level_back();
}

void talkers::miss(talker_kind kind, std::size_t series) noexcept {
    if (kind != talker_kind::returned) of(kind).lock()->hour.miss(series);
}

void talkers::thin_out(talker_kind kind) noexcept {
    level& of = level_of(kind);
    if (of.load(std::memory_order_relaxed) < thinning::level_max) of.fetch_add(1, std::memory_order_relaxed);
}

void talkers::maintain(time_point now) {
    const std::scoped_lock one{ending_};
    const window_span hour = hour_of(now), before = *hour_.lock();
    if (hour.start <= before.start) return;
    const bool ends_day = day_of(hour.start) != day_of(before.start);
    const ended_hour arrived = end_hour(talker_kind::arrived, ends_day);
    const ended_hour refused = end_hour(talker_kind::refused, ends_day);
    {
        const auto samples = samples_.lock();
        samples->end_hour();
        level_of(talker_kind::returned) = samples->level_back();  // all come back now: few of them are copied
    }
    past_.lock()->add({.start = before.start,
                       .arrived = arrived.series,
                       .refused = refused.series,
                       .is_exact = arrived.is_exact && refused.is_exact});
    *hour_.lock() = hour;  // last: what throws for want of memory is done again
}

/// Nobody waits while tables are added up. @return how many series the hour had
talkers::ended_hour talkers::end_hour(talker_kind kind, bool ends_day) {
    guarded<counts>& in = of(kind);
    talker_tables hour = none_, day = none_;
    {
        auto held = in.lock();
        std::swap(held->hour, hour);
        held->counted.clear();
        held->watched.clear();
        if (!ends_day) day = held->day;
        level_of(kind) = 0;
    }
    const ended_hour counted{.series = hour.total(), .is_exact = hour.is_exact()};
    if (!ends_day) day.merge(hour);
    std::swap(in.lock()->day, day);
    return counted;
}

std::vector<hour_counts> talkers::hours() {
    std::vector<hour_counts> made;
    {
        const auto past = past_.lock();
        made.assign(past->all().begin(), past->all().end());
    }
    hour_counts& running = made.emplace_back(hour_counts{.start = hour_.lock()->start});
    {
        const auto held = arrived_.lock();
        running.arrived = held->hour.total();
        running.is_exact = held->hour.is_exact();
    }
    const auto held = refused_.lock();
    running.refused = held->hour.total();
    running.is_exact = running.is_exact && held->hour.is_exact();
    return made;
}

talker_tables talkers::tables(talker_kind kind, talker_window window) {
    if (window == talker_window::hourly) return of(kind).lock()->hour;
    talker_tables hour = none_, day = none_;
    {
        const auto held = of(kind).lock();
        hour = held->hour;
        day = held->day;
    }
    day.merge(hour);
    return day;
}

// The format: the hour's start in seconds (8 bytes), the labels, and of either kind the tables of the hour and of the
// day without it, and what tells series apart; then the hours before, as past_hours has them, and the samples.
void talkers::save(state_encoder& out) {
    out.number(static_cast<std::int64_t>(hour_.lock()->start.time_since_epoch().count()));
    out.number(static_cast<std::uint64_t>(labels_.size()));
    for (const std::string& each : labels_) out.text(each);
    for (guarded<counts>* const kind : {&arrived_, &refused_}) {
        const counts copy = *kind->lock();  // writing may take its time
        copy.hour.save(out);
        copy.day.save(out);
        copy.counted.save(out);
        copy.watched.save(out);
    }
    const past_hours past = *past_.lock();
    past.save(out);
    const series_samples samples = *samples_.lock();
    samples.save(out);
}

bool talkers::load(state_decoder& in, time_point now) {
    const auto seconds = in.number<std::int64_t>();
    if (!begins_hour(seconds)) return false;
    const std::chrono::sys_seconds start{std::chrono::seconds{seconds}};
    std::vector<std::string> labels(in.count(labels_.size()));
    for (std::string& each : labels) each = in.text();
    if (!in.good() || labels != labels_) return false;
    counts arrived = *arrived_.lock(), refused = *refused_.lock();
    for (counts* const kind : {&arrived, &refused}) {
        kind->hour.load(in);
        kind->day.load(in);
        kind->counted.load(in);
        kind->watched.load(in);
    }
    past_hours past;
    past.load(in);
    series_samples samples;
    if (!in.is_at_end()) samples.load(in);  // the last release had none
    const window_span saved = hour_of(start), current = hour_of(now);
    if (!in.good()) return false;
    const bool goes_on = start >= current.start;  // or the clock has been set back
    if (!goes_on)
        past.add({.start = start,
                  .arrived = arrived.hour.total(),
                  .refused = refused.hour.total(),
                  .is_exact = arrived.hour.is_exact() && refused.hour.is_exact()});
    std::swap(*past_.lock(), past);
    if (!goes_on) samples.end_hour();
    if (current.start - start <= std::chrono::hours{1}) std::swap(*samples_.lock(), samples);
    if (day_of(start) != day_of(now)) return true;
    for (counts* const kind : {&arrived, &refused}) {
        if (goes_on) continue;
        kind->day.merge(kind->hour);
        kind->hour.clear();
        kind->counted.clear();
        kind->watched.clear();
    }
    if (goes_on) *hour_.lock() = saved;
    level_of(talker_kind::arrived) = arrived.counted.level();
    level_of(talker_kind::refused) = refused.counted.level();
    std::swap(*arrived_.lock(), arrived);
    std::swap(*refused_.lock(), refused);
    return true;
}

}  // namespace seriesgate
