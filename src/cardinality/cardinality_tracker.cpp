#include "cardinality/cardinality_tracker.hpp"

#include <algorithm>
#include <utility>

namespace seriesgate {

namespace {

/// Series under one hold of the lock: some tens of microseconds.
constexpr std::size_t series_per_piece = 64;

/// The start of an hour; any other moment is damage.
std::chrono::sys_seconds load_hour(state_decoder& in) {
    const auto start = in.time<std::chrono::sys_seconds>();
    if (start != hour_of(start).start) in.fail();
    return start;
}

}  // namespace

void past_hours::add(const hour_counts& ended) {
    std::erase_if(hours_, [&](const hour_counts& each) { return each.start >= ended.start; });
    hours_.push_back(ended);
    if (hours_.size() > hours_max) hours_.erase(hours_.begin());
}

void past_hours::save(state_encoder& out) const {
    out.number(static_cast<std::uint64_t>(hours_.size()));
    for (const hour_counts& each : hours_) {
        out.time(each.start);
        out.numbers(each.newly_admitted, each.refused);
    }
}

void past_hours::load(state_decoder& in) {
    hours_.clear();
    for (std::size_t left = in.count(hours_max); left > 0 && in.good(); --left) {
        const auto start = load_hour(in);
        const auto newly_admitted = in.number<std::uint64_t>();
        const auto refused = in.number<std::uint64_t>();
        if (!hours_.empty() && hours_.back().start >= start) in.fail();
        const bool is_exact = std::max(newly_admitted, refused) <= window_sketch::exact_max;  // unless under load
        if (in.good())
            add({.start = start, .newly_admitted = newly_admitted, .refused = refused, .is_exact = is_exact});
    }
}

cardinality_tracker::cardinality_tracker(std::span<const std::string> labels, const hash_key& hash, time_point now)
    : labels_(labels.begin(), labels.end()),
      none_(labels, hash),
      counts_{guarded<counts>{labels, hash}, guarded<counts>{labels, hash}},
      hour_(hour_of(now)) {}

void cardinality_tracker::note(series_event kind, std::span<const std::uint64_t> fingerprints, label_source& labels,
                               const request_sender& sender, time_point now) {
    for (std::size_t first = 0; first < fingerprints.size(); first += series_per_piece) {
        const std::size_t end = std::min(fingerprints.size(), first + series_per_piece);
        if (kind == series_event::returned)
            sample_returned(fingerprints, first, end, labels, sender.tenant);
        else
            count(kind, fingerprints, first, end, labels, sender, now);
    }
}

void cardinality_tracker::count(series_event kind, std::span<const std::uint64_t> fingerprints, std::size_t first,
                                std::size_t end, label_source& labels, const request_sender& sender, time_point now) {
    auto held = of(kind).lock();
    held->counted.raise_to(level_of(kind).load(std::memory_order_relaxed));
    held->watched.raise_to(held->counted.level());  // it sees only what is counted, which stands for the rest
    const auto samples = samples_.lock();
    series_sample& sample = kind == series_event::refused ? samples->refused() : samples->known();
    sample.raise_to(level_of(kind).load(std::memory_order_relaxed));
    for (std::size_t i = first; i < end; ++i) {
        const std::uint64_t series = fingerprints[i];
        const std::uint64_t weight = held->counted.weigh(series);
        if (weight == 0) continue;
        const auto shown = labels.labels(i);
        held->hour.count(shown, sender, {.counted = weight, .watched = held->watched.weigh(series)}, now);
        sample.put(series, shown, sender.tenant, now);
    }
    level& shown = level_of(kind);
    if (shown.load(std::memory_order_relaxed) < held->counted.level()) shown = held->counted.level();
}

void cardinality_tracker::sample_returned(std::span<const std::uint64_t> fingerprints, std::size_t first,
                                          std::size_t end, label_source& labels, std::string_view tenant) {
    const auto samples = samples_.lock();
    level& shown = level_of(series_event::returned);
    if (const unsigned asked = shown.load(std::memory_order_relaxed); asked > samples->level_back())
        samples->known().raise_to(asked);
    for (std::size_t i = first; i < end; ++i)
        if (samples->wants_back(fingerprints[i])) samples->come_back(fingerprints[i], labels.labels(i), tenant);
    if (shown.load(std::memory_order_relaxed) < samples->level_back()) shown = samples->level_back();
}

void cardinality_tracker::miss(series_event kind, std::size_t series) noexcept {
    if (kind != series_event::returned) of(kind).lock()->hour.miss(series);
}

void cardinality_tracker::thin_out(series_event kind) noexcept {
    level& of = level_of(kind);
    if (of.load(std::memory_order_relaxed) < thinning::level_max) of.fetch_add(1, std::memory_order_relaxed);
}

void cardinality_tracker::maintain(time_point now, clock_order order) {
    const std::scoped_lock one{ending_};
    for (guarded<counts>& kind : counts_) add_to_day(kind);  // left by a failed call
    const window_span hour = hour_of(now), before = *hour_.lock();
    if (hour.start == before.start || (hour.start < before.start && order == clock_order::forward)) return;
    end_hour(before, hour);
    for (guarded<counts>& kind : counts_) add_to_day(kind);
}

/// Allocates first, so an exception changes nothing.
void cardinality_tracker::end_hour(const window_span& ending, const window_span& next) {
    struct empty_tables {
        cardinality_tables hour, day;
    };
    std::array<empty_tables, 2> empty{{{none_, none_}, {none_, none_}}};
    past_hours past = *past_.lock();
    hour_counts ended{.start = ending.start};
    past.add(ended);
    {
        const auto samples = samples_.lock();
        samples->end_hour();
        level_of(series_event::returned) = samples->level_back();  // all series return at once now; few are copied
    }
    const bool ends_day = day_of(next.start) != day_of(ending.start);
    for (const series_event kind : {series_event::newly_admitted, series_event::refused}) {
        auto& [hour, day] = empty[static_cast<std::size_t>(kind)];
        auto held = of(kind).lock();
        (kind == series_event::newly_admitted ? ended.newly_admitted : ended.refused) = held->hour.total();
        ended.is_exact = ended.is_exact && held->hour.is_exact();
        std::swap(held->hour, hour);
        held->counted.clear();
        held->watched.clear();
        level_of(kind) = 0;
        if (ends_day)
            std::swap(held->day, day);
        else
            held->ended.emplace(std::move(hour));
    }
    past.add(ended);  // replaces the entry added above
    past.drop_from(next.start);
    std::swap(*past_.lock(), past);
    *hour_.lock() = next;
}

/// Merges copies, so that no thread waits for the merge.
void cardinality_tracker::add_to_day(guarded<counts>& of) {
    std::optional<cardinality_tables> day, ended, done;
    {
        const auto held = of.lock();
        if (!held->ended) return;
        day = held->day;
        ended = held->ended;
    }
    day->merge(*ended);
    const auto held = of.lock();
    std::swap(held->day, *day);
    std::swap(held->ended, done);
}

std::vector<hour_counts> cardinality_tracker::hours() {
    const past_hours past = *past_.lock();
    std::vector<hour_counts> made(past.all().begin(), past.all().end());
    hour_counts& running = made.emplace_back(hour_counts{.start = hour_.lock()->start});
    for (const series_event kind : {series_event::newly_admitted, series_event::refused}) {
        const auto held = of(kind).lock();
        (kind == series_event::newly_admitted ? running.newly_admitted : running.refused) = held->hour.total();
        running.is_exact = running.is_exact && held->hour.is_exact();
    }
    return made;
}

cardinality_tables cardinality_tracker::tables(series_event kind, cardinality_window window) {
    if (window == cardinality_window::hourly) return of(kind).lock()->hour;
    cardinality_tables hour = none_, day = none_;
    std::optional<cardinality_tables> ended;
    {
        const auto held = of(kind).lock();
        hour = held->hour;
        day = held->day;
        ended = held->ended;
    }
    if (ended) day.merge(*ended);
    day.merge(hour);
    return day;
}

// The format: start of the hour in seconds (8 bytes); the labels; for either kind the tables of the hour, those of the
// day without it, and the samplers; then past_hours and the samples.
void cardinality_tracker::save(state_encoder& out) {
    out.time(hour_.lock()->start);
    out.number(static_cast<std::uint64_t>(labels_.size()));
    for (const std::string& each : labels_) out.text(each);
    for (guarded<counts>& kind : counts_) {
        counts copy = *kind.lock();  // a copy, because writing may take long
        if (copy.ended) copy.day.merge(*copy.ended);
        out.parts(copy.hour, copy.day, copy.counted, copy.watched);
    }
    const past_hours past = *past_.lock();
    const series_samples samples = *samples_.lock();
    out.parts(past, samples);
}

bool cardinality_tracker::load(state_decoder& in, time_point now) {
    const auto start = load_hour(in);
    std::vector<std::string> labels(in.count(labels_.size()));
    for (std::string& each : labels) each = in.text();
    if (!in.good() || labels != labels_) return false;
    counts newly_admitted = *counts_[0].lock(), refused = *counts_[1].lock();
    for (counts* const kind : {&newly_admitted, &refused})
        in.parts(kind->hour, kind->day, kind->counted, kind->watched);
    past_hours past;
    past.load(in);
    series_samples samples;
    if (!in.is_at_end()) samples.load(in);  // the last release had none
    const window_span saved = hour_of(start), current = hour_of(now);
    if (!in.good()) return false;
    const bool goes_on = start >= current.start;  // or the clock was set back
    if (!goes_on)
        past.add({.start = start,
                  .newly_admitted = newly_admitted.hour.total(),
                  .refused = refused.hour.total(),
                  .is_exact = newly_admitted.hour.is_exact() && refused.hour.is_exact()});
    std::swap(*past_.lock(), past);
    if (!goes_on) samples.end_hour();
    if (current.start - start <= std::chrono::hours{1}) std::swap(*samples_.lock(), samples);
    if (day_of(start) != day_of(now)) return true;
    for (counts* const kind : {&newly_admitted, &refused}) {
        if (goes_on) continue;
        kind->day.merge(kind->hour);
        kind->hour = none_;
        kind->counted.clear();
        kind->watched.clear();
    }
    if (goes_on) *hour_.lock() = saved;
    level_of(series_event::newly_admitted) = newly_admitted.counted.level();
    level_of(series_event::refused) = refused.counted.level();
    std::swap(*counts_[0].lock(), newly_admitted);
    std::swap(*counts_[1].lock(), refused);
    return true;
}

}  // namespace seriesgate
