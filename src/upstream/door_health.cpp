#include "upstream/door_health.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

constexpr unsigned unavailable = 503;

double seconds(door_health::clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

door_health::clock::time_point at(door_health::clock::rep ticks) {
    return door_health::clock::time_point{door_health::clock::duration{ticks}};
}

}  // namespace

double door_health::share(clock::time_point now) const noexcept {
    const auto since = at(well_since_.load(std::memory_order_relaxed));
    if (since + slow_start <= now) return 1;
    return std::max(0.0, seconds(now - since) / seconds(slow_start));
}

door_health::clock::time_point door_health::due() const noexcept {
    return at(due_.load(std::memory_order_relaxed));
}

/// Each time for twice as long as the time before, unless it has been well between.
void door_health::set_aside(state& held, door_standing as, clock::time_point now) {
    if (standing() == door_standing::well) {
        held.out_since = now;
        const bool had_recovered = share(now) == 1;
        if (had_recovered) held.pause = pause_min;
    }
    held.busy_until = {};
    held.changed_at = now;
    due_ = (now + held.pause).time_since_epoch().count();
    held.pause = std::min(2 * held.pause, pause_max);
    standing_ = as;
}

bool door_health::take_look(clock::time_point now, clock::time_point until) {
    if (standing() != door_standing::out || now < due()) return false;
    const auto held = state_.lock();
    if (standing() != door_standing::out || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

void door_health::accepts(clock::time_point now) {
    const auto held = state_.lock();
    if (standing() != door_standing::out) return;
    held->busy_until = {};
    held->changed_at = now;
    standing_ = door_standing::trial;
}

/// But for one that somebody has taken.
bool door_health::is_for_trial(clock::time_point now) const noexcept {
    const door_standing is = standing();
    return is == door_standing::trial || (is == door_standing::turning_away && now >= due());
}

bool door_health::has_trial(clock::time_point now) {
    return is_for_trial(now) && state_.lock()->busy_until <= now;
}

bool door_health::take_trial(clock::time_point now, clock::time_point until) {
    const auto held = state_.lock();
    if (!is_for_trial(now) || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

bool door_health::failed(clock::time_point began, clock::time_point now) {
    const auto held = state_.lock();
    const door_standing was = standing();
    if (began < held->changed_at) return false;
    // Of many requests that fail together, the first one says so.
    const bool is_news = was != door_standing::out || held->busy_until > now;
    if (is_news) set_aside(*held, door_standing::out, now);
    return was == door_standing::well || was == door_standing::turning_away;
}

std::optional<std::chrono::milliseconds> door_health::answered(unsigned status, clock::time_point began,
                                                               clock::time_point now) {
    if (status == unavailable && turned_away(began, now)) return std::nullopt;
    if (status != unavailable && turned_away_.load(std::memory_order_relaxed) != 0) turned_away_ = 0;
    if (standing() == door_standing::well) [[likely]]
        return std::nullopt;
    const auto held = state_.lock();
    if (standing() == door_standing::well || began < held->changed_at) return std::nullopt;
    held->busy_until = {};
    held->changed_at = now;
    well_since_ = now.time_since_epoch().count();
    standing_ = door_standing::well;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - held->out_since);
}

/// @return whether the door is one that turns away.
bool door_health::turned_away(clock::time_point began, clock::time_point now) {
    if (turned_away_.fetch_add(1, std::memory_order_relaxed) + 1 < turned_away_max) return false;
    const auto held = state_.lock();
    const bool is_news = standing() != door_standing::turning_away || now >= due();
    if (is_news && began >= held->changed_at) set_aside(*held, door_standing::turning_away, now);
    return true;
}

}  // namespace seriesgate
