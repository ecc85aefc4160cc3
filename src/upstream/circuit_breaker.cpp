#include "upstream/circuit_breaker.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

constexpr unsigned unavailable = 503;

double seconds(circuit_breaker::clock::duration time) {
    return std::chrono::duration<double>(time).count();
}

circuit_breaker::clock::time_point at(circuit_breaker::clock::rep ticks) {
    return circuit_breaker::clock::time_point{circuit_breaker::clock::duration{ticks}};
}

}  // namespace

double circuit_breaker::share(clock::time_point now) const noexcept {
    const auto since = at(healthy_since_.load(std::memory_order_relaxed));
    if (since + slow_start <= now) return 1;
    return std::max(0.0, seconds(now - since) / seconds(slow_start));
}

circuit_breaker::clock::time_point circuit_breaker::due() const noexcept {
    return at(due_.load(std::memory_order_relaxed));
}

/// Doubles the pause each time. It is pause_min again after a full recovery.
void circuit_breaker::leave_out(times& held, backend_state as, clock::time_point now) {
    if (state() == backend_state::healthy) {
        held.ejected_since = now;
        const bool had_recovered = share(now) == 1;
        if (had_recovered) held.pause = pause_min;
    }
    held.busy_until = {};
    held.changed_at = now;
    due_ = (now + held.pause).time_since_epoch().count();
    held.pause = std::min(2 * held.pause, pause_max);
    state_ = as;
}

bool circuit_breaker::take_probe(clock::time_point now, clock::time_point until) {
    if (state() != backend_state::ejected || now < due()) return false;
    const auto held = times_.lock();
    if (state() != backend_state::ejected || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

void circuit_breaker::accepts(clock::time_point now) {
    const auto held = times_.lock();
    if (state() != backend_state::ejected) return;
    held->busy_until = {};
    held->changed_at = now;
    state_ = backend_state::half_open;
}

/// Whether a trial is due, even if one is running.
bool circuit_breaker::is_for_trial(clock::time_point now) const noexcept {
    const backend_state is = state();
    return is == backend_state::half_open || (is == backend_state::overloaded && now >= due());
}

bool circuit_breaker::has_trial(clock::time_point now) {
    return is_for_trial(now) && times_.lock()->busy_until <= now;
}

bool circuit_breaker::take_trial(clock::time_point now, clock::time_point until) {
    const auto held = times_.lock();
    if (!is_for_trial(now) || now < held->busy_until) return false;
    held->busy_until = until;
    return true;
}

bool circuit_breaker::failed(clock::time_point began, clock::time_point now) {
    const auto held = times_.lock();
    const backend_state was = state();
    if (began < held->changed_at) return false;
    // Of many requests that fail together, only the first one changes the state.
    const bool is_news = was != backend_state::ejected || held->busy_until > now;
    if (is_news) leave_out(*held, backend_state::ejected, now);
    return was == backend_state::healthy || was == backend_state::overloaded;
}

std::optional<std::chrono::milliseconds> circuit_breaker::answered(unsigned status, clock::time_point began,
                                                                   clock::time_point now) {
    if (status == unavailable && is_overloaded(began, now)) return std::nullopt;
    if (status != unavailable && overloaded_.load(std::memory_order_relaxed) != 0) overloaded_ = 0;
    if (state() == backend_state::healthy) [[likely]]
        return std::nullopt;
    const auto held = times_.lock();
    if (state() == backend_state::healthy || began < held->changed_at) return std::nullopt;
    held->busy_until = {};
    held->changed_at = now;
    healthy_since_ = now.time_since_epoch().count();
    state_ = backend_state::healthy;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - held->ejected_since);
}

/// @return whether the backend counts as overloaded.
bool circuit_breaker::is_overloaded(clock::time_point began, clock::time_point now) {
    if (overloaded_.fetch_add(1, std::memory_order_relaxed) + 1 < overloaded_max) return false;
    const auto held = times_.lock();
    const bool is_news = state() != backend_state::overloaded || now >= due();
    if (is_news && began >= held->changed_at) leave_out(*held, backend_state::overloaded, now);
    return true;
}

}  // namespace seriesgate
