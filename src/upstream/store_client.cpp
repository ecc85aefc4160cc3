#include "upstream/store_client.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Time limit of connecting while other backends are left.
constexpr auto connect_limit_of_several = 2s;
constexpr auto look_limit = 5s;

upstream_error busy(const shared_store& store, std::size_t waiting) {
    return {.reason = upstream_error_reason::busy,
            .text = "all connections to it are in use, and " + std::to_string(waiting) + " requests wait for one",
            .backend = store.name};
}

/// Turns 401 and 403 into an error of the gate: a sender would drop its data for our fault.
result<upstream_answer, upstream_error> unless_unauthorized(upstream_answer answer, const shared_backend& backend) {
    constexpr unsigned unauthorized = 401;
    constexpr unsigned forbidden = 403;
    if (answer.status != unauthorized && answer.status != forbidden) return answer;
    return upstream_error{.reason = upstream_error_reason::unauthorized,
                          .text = "it answers " + std::to_string(answer.status),
                          .backend = backend.name};
}

/// Adds the failed earlier attempts to the error.
upstream_error after(const std::optional<upstream_error>& before, upstream_error error, std::string& tried) {
    if (before) {
        tried.append(tried.empty() ? "" : ", ").append(before->backend).append(": ").append(name_of(before->reason));
        error.text += " (before that " + tried + ")";
    }
    return error;
}

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
constexpr int stays_remembered = 8;

bool has_tried(const tried_backends& tried, std::size_t index) {
    return index < tried.size() && tried[index];
}

}  // namespace

store_client::store_client(net::io_context& io, shared_store& shared)
    : io_(io), shared_(shared), slots_(std::make_shared<backend_slots>(io, shared)) {
    for (shared_backend& each : shared.backends) backends_.emplace_back(io, shared, each);
}

void store_client::maintain() {
    const auto now = clock::now();
    for (std::size_t i = 0; i < backends_.size(); ++i) {
        backends_[i].maintain();
        shared_backend& backend = shared_.backends[i];
        if (!backend.is_only && backend.health.take_probe(now, now + 2 * look_limit))
            spawn(io_.get_executor(), look(i), "looking at an address of the store failed");
    }
    slots_->let_in();
}

bool store_client::started() const noexcept {
    return std::ranges::any_of(backends_, [](const upstream_client& each) { return each.started(); });
}

/// Probes an ejected backend, so that no sender's request has to.
net::awaitable<void> store_client::look(std::size_t index) {
    const auto began = clock::now();
    const auto error = co_await backends_[index].look(began + look_limit);
    shared_backend& backend = shared_.backends[index];
    if (error)
        backend.health.failed(began, clock::now());
    else
        backend.health.accepts(clock::now());
    slots_->let_in();
}

net::awaitable<store_client::outcome> store_client::post(const upstream_request& request) {
    const auto limit = clock::now() + shared_.upstream.timeout;
    auto slot = slots_->take({}, limit);
    const store_backend& first = slot ? slot->backend().at : shared_.settings.backends.front();
    upstream_message message = make_message(shared_.upstream, first, request);
    if (shared_.access.put_into(message.http)) message.uses_gate_credentials = true;
    // We could not remove our secrets from a compressed answer.
    if (shared_.access.has_secrets()) message.http.erase(http::field::accept_encoding);
    return send(std::move(message), std::move(slot), limit);
}

net::awaitable<store_client::outcome> store_client::send(upstream_message message, std::optional<backend_slot> slot,
                                                         clock::time_point limit) {
    tried_backends tried;
    std::string failures;
    std::optional<upstream_error> before;
    for (std::size_t left = backends_.size();; --left) {
        if (!slot) {
            auto waited = co_await slots_->wait(tried, limit);
            if (!waited) co_return before ? std::move(*before) : busy(shared_, slots_->waiting_count());
            slot.emplace(std::move(*waited));
        }
        readdress(message, slot->backend().at);
        outcome got = co_await send_to(*slot, message, limit, left);
        if (got)
            co_return message.uses_gate_credentials ? unless_unauthorized(*std::move(got), slot->backend())
                                                    : std::move(got);
        upstream_error error = after(before, got.error(), failures);
        if (!error.untouched || left == 1 || clock::now() >= limit) co_return error;
        before = std::move(error);
        tried.resize(backends_.size());
        tried[slot->index()] = true;
        slot.reset();
        if (auto next = slots_->take(tried, limit)) slot.emplace(std::move(*next));
    }
}

net::awaitable<store_client::outcome> store_client::send_to(const backend_slot& slot, const upstream_message& message,
                                                            clock::time_point limit, std::size_t backends_left) {
    const auto began = clock::now();
    const auto part = (limit - began) / static_cast<clock::rep>(backends_left);
    const exchange_limits limits{
        .connect = backends_left == 1 ? part : std::min<clock::duration>(part, connect_limit_of_several),
        .answer = limit};
    slot.backend().requests.add();
    outcome got = co_await backends_[slot.index()].send(message, limits);
    if (got) {
        answered(slot.backend(), began, got->status);
        co_return got;
    }
    const upstream_error error = got.error();
    slot.backend().errors[error.reason].add();
    // A timeout of a request that had waited for long is not the backend's fault.
    const bool had_time = clock::now() - slot.since() >= shared_.upstream.timeout / 2;
    if (error.reason != upstream_error_reason::timeout || had_time) failed(slot.backend(), began, error);
    co_return got;
}

void store_client::answered(shared_backend& backend, clock::time_point began, unsigned status) {
    const auto lasted = backend.health.answered(status, began, clock::now());
    if (lasted && backend.outage_told.exchange(false))
        log::info("an address of the store is back",
                  {{"upstream", backend.name}, {"outage_seconds", std::chrono::duration<double>(*lasted).count()}});
}

void store_client::failed(shared_backend& backend, clock::time_point began, const upstream_error& error) {
    if (!backend.health.failed(began, clock::now()) || backend.is_only) return;
    const auto outages = backend.outages.count(1);
    if (!outages) return;
    backend.outage_told = true;
    log::warn(
        "an address of the store is out",
        {{"upstream", backend.name}, {"outages", *outages}, {"reason", name_of(error.reason)}, {"err", error.text}});
}

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
    if (!in_line) return;
    if (const auto from = of.lock()) from->line_.remove(this);
}

/// @param is_early whether the request has enough time left for a trial.
void backend_slots::look_around(const tried_backends& tried, bool is_early, clock::time_point now) {
    views_.clear();
    for (std::size_t i = 0; i < store_.backends.size(); ++i) {
        circuit_breaker& health = store_.backends[i].health;
        views_.push_back({.state = health.state(),
                          .has_trial = is_early && health.has_trial(now),
                          .share = health.share(now),
                          .in_flight = store_.backends[i].in_flight.value(),
                          .has_room = taken_[i] < store_.connections_each_max,
                          .tried = has_tried(tried, i),
                          .due = health.due()});
    }
}

/// A request with little time left takes no trial: it might end before the backend answers.
std::optional<backend_slot> backend_slots::choose(const tried_backends& tried, clock::time_point limit) {
    const auto now = clock::now();
    look_around(tried, limit - now >= store_.upstream.timeout / 2, now);
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
    return line_.empty() ? choose(tried, limit) : std::nullopt;
}

void backend_slots::leave(std::size_t index, clock::duration stay) {
    --taken_[index];
    usual_stay_ += (stay - usual_stay_) / stays_remembered;
    let_in();
}

/// Gives the request a slot, or none if too little time is left. @return whether it leaves the queue.
bool backend_slots::let_in(std::list<waiting*>::iterator at) {
    waiting& one = **at;
    if (one.limit >= clock::now() + usual_stay_ / 2) {
        auto slot = choose(one.tried, one.limit);
        if (!slot) return false;
        one.given.emplace(std::move(*slot));
    }
    line_.erase(at);
    one.in_line = false;
    one.alarm.cancel();
    return true;
}

/// Also tries the last in the queue: it may have time for a trial when the others do not.
void backend_slots::let_in() {
    while (!line_.empty())
        if (!let_in(line_.begin())) break;
    if (line_.size() > 1) let_in(std::prev(line_.end()));
}

/// Estimates the wait from the recent pace: all requests ahead, then the request itself.
bool backend_slots::is_in_vain(clock::time_point limit, clock::time_point now) const {
    const auto up =
        std::ranges::count_if(store_.backends, [](const shared_backend& each) { return each.health.is_up(); });
    const auto slots = static_cast<clock::rep>(store_.connections_each_max) * std::max<clock::rep>(up, 1);
    const auto line = static_cast<clock::rep>(line_.size()) + 1;
    return now + usual_stay_ + usual_stay_ * line / slots > limit;
}

net::awaitable<std::optional<backend_slot>> backend_slots::wait(const tried_backends& tried, clock::time_point limit) {
    if (is_in_vain(limit, clock::now())) co_return std::nullopt;
    store_.waits.add();
    store_.waiting.add();
    waiting own{
        .of = weak_from_this(), .tried = tried, .limit = limit, .shown = store_.waiting, .alarm = async_timer{io_}};
    own.alarm.expires_at(limit);
    line_.push_back(&own);
    co_await own.alarm.async_wait(no_throw);
    co_return std::move(own.given);
}

}  // namespace seriesgate
