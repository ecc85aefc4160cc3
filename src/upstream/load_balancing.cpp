#include "upstream/load_balancing.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace seriesgate {
namespace {

constexpr std::uint64_t share_steps = 10;

enum class rank : std::uint8_t { trial, healthy, slow_start_or_full, overloaded, ejected, none };

/// A recovering backend with a share of n tenths takes part in n of ten rounds. In the others it stands in when the
/// healthy backends are full. No request waits for a backend whose trial request is in flight.
rank rank_of(const backend_view& backend, std::uint64_t round) noexcept {
    if (backend.tried) return rank::none;
    if (backend.has_trial && backend.has_room) return rank::trial;
    if (backend.state == backend_state::overloaded) return rank::overloaded;
    if (backend.state != backend_state::healthy) return rank::ejected;
    const bool takes_part = static_cast<double>(round % share_steps) < backend.share * share_steps;
    return takes_part && backend.has_room ? rank::healthy : rank::slow_start_or_full;
}

bool is_better(const backend_view& one, const backend_view& other, rank of) noexcept {
    return of == rank::ejected ? one.due < other.due : one.in_flight < other.in_flight;
}

/// A trial without a result by then is abandoned.
constexpr auto trial_grace = std::chrono::seconds{5};
/// Weight of the running average: about the last eight requests.
constexpr int holds_averaged = 8;

}  // namespace

std::optional<std::size_t> choose_backend(std::span<const backend_view> backends, std::uint64_t turn) noexcept {
    const std::size_t count = backends.size();
    const std::uint64_t round = turn / std::max<std::size_t>(count, 1);
    rank best_rank = rank::none;
    for (const backend_view& each : backends) best_rank = std::min(best_rank, rank_of(each, round));
    if (best_rank == rank::none) return std::nullopt;

    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (turn + i) % count;
        if (!backends[at].has_room || rank_of(backends[at], round) != best_rank) continue;
        if (!best || is_better(backends[at], backends[*best], best_rank)) best = at;
    }
    return best;
}

backend_slot::backend_slot(const std::shared_ptr<backend_slots>& of, shared_backend& backend, std::size_t index)
    : of_(of), backend_(&backend), index_(index), since_(monotonic_clock::now()) {
    ++of->taken_[index];
    backend.in_flight.add();
}

backend_slot::backend_slot(backend_slot&& other) noexcept
    : of_(std::move(other.of_)),
      backend_(std::exchange(other.backend_, nullptr)),
      index_(other.index_),
      since_(other.since_) {}

backend_slot::~backend_slot() {
    if (backend_ == nullptr) return;
    backend_->in_flight.sub();
    if (const auto of = of_.lock()) of->leave(index_, monotonic_clock::now() - since_);
}

backend_slots::waiting::~waiting() {
    shown.sub();
    if (!is_queued) return;
    if (const auto from = of.lock()) from->queue_.remove(this);
}

/// @param is_early whether the request has enough time left for a trial.
void backend_slots::update_views(const tried_backends& tried, bool is_early, clock::time_point now) {
    views_.clear();
    for (std::size_t i = 0; i < store_.backends.size(); ++i) {
        circuit_breaker& health = store_.backends[i].health;
        views_.push_back({.state = health.state(),
                          .has_trial = is_early && health.has_trial(now),
                          .share = health.share(now),
                          .in_flight = store_.backends[i].in_flight.value(),
                          .has_room = taken_[i] < store_.connections_each_max,
                          .tried = i < tried.size() && tried[i],
                          .due = health.due()});
    }
}

/// A request with little time left takes no trial: it might end before the backend answers.
std::optional<backend_slot> backend_slots::choose(const tried_backends& tried, clock::time_point limit) {
    const auto now = clock::now();
    update_views(tried, limit - now >= store_.upstream.timeout / 2, now);
    const auto turn = store_.turn.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        const auto chosen = choose_backend(views_, turn);
        if (!chosen) return std::nullopt;
        shared_backend& backend = store_.backends[*chosen];
        bool& is_trial = views_[*chosen].has_trial;
        if (!is_trial || backend.health.take_trial(now, limit + trial_grace))
            return backend_slot{shared_from_this(), backend, *chosen};
        is_trial = false;  // another worker took the trial
    }
}

std::optional<backend_slot> backend_slots::take(const tried_backends& tried, clock::time_point limit) {
    return queue_.empty() ? choose(tried, limit) : std::nullopt;
}

void backend_slots::leave(std::size_t index, clock::duration stay) {
    --taken_[index];
    average_hold_ += (stay - average_hold_) / holds_averaged;
    serve_queue();
}

/// Gives the request a slot, or none if too little time is left. @return whether it leaves the queue.
bool backend_slots::serve(std::list<waiting*>::iterator at) {
    waiting& one = **at;
    if (one.limit >= clock::now() + average_hold_ / 2) {
        auto slot = choose(one.tried, one.limit);
        if (!slot) return false;
        one.given.emplace(std::move(*slot));
    }
    queue_.erase(at);
    one.is_queued = false;
    one.alarm.cancel();
    return true;
}

/// Also tries the last in the queue: it may have time for a trial when the others do not.
void backend_slots::serve_queue() {
    while (!queue_.empty())
        if (!serve(queue_.begin())) break;
    if (queue_.size() > 1) serve(std::prev(queue_.end()));
}

/// Estimates the wait from the recent pace: all requests ahead, then the request itself.
bool backend_slots::would_time_out(clock::time_point limit, clock::time_point now) const {
    const auto up =
        std::ranges::count_if(store_.backends, [](const shared_backend& each) { return each.health.is_up(); });
    const auto slots = static_cast<clock::rep>(store_.connections_each_max) * std::max<clock::rep>(up, 1);
    const auto queued = static_cast<clock::rep>(queue_.size()) + 1;
    return now + average_hold_ + average_hold_ * queued / slots > limit;
}

net::awaitable<std::optional<backend_slot>> backend_slots::wait(const tried_backends& tried, clock::time_point limit) {
    if (would_time_out(limit, clock::now())) co_return std::nullopt;
    store_.waits.add();
    store_.waiting.add();
    waiting own{
        .of = weak_from_this(), .tried = tried, .limit = limit, .shown = store_.waiting, .alarm = async_timer{io_}};
    own.alarm.expires_at(limit);
    queue_.push_back(&own);
    co_await own.alarm.async_wait(no_throw);
    co_return std::move(own.given);
}

}  // namespace seriesgate
