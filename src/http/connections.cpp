#include "http/connections.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace seriesgate {

std::size_t connection_registry::scope::size() const noexcept {
    std::size_t sum = 0;
    for (const row& each : rows) sum += each.size();
    return sum;
}

connection_registry::entry* connection_registry::scope::dispensable(clock::time_point now) {
    const row& tls_handshake = at(connection_stage::tls_handshake);
    if (!tls_handshake.empty() && now - tls_handshake.front()->since >= slow_after) return tls_handshake.front();
    if (const row& waiting = at(connection_stage::waiting); !waiting.empty()) return waiting.front();
    const row& receiving = at(connection_stage::receiving);
    if (receiving.empty() || now - receiving.front()->since < slow_after) return nullptr;
    return receiving.front();
}

connection_lease connection_registry::admit(socket_handle socket, const std::optional<net::ip::address>& peer,
                                            clock::time_point now, connection_stage first) {
    auto made = std::make_unique<entry>(entry{.socket = socket, .since = now, .stage = first});
    row in_house{made.get()};  // allocated before any change
    row of_peer{made.get()};

    const std::scoped_lock lock{mutex_};
    made->over = bound_reached(peer, now);
    if (made->over && !make_room(overflow_, overflow_max, *made->over, now)) {
        metrics_.connections_turned_away[*made->over].add();
        return {};
    }
    if (!made->over && first == connection_stage::tls_handshake && !make_room_for_handshake(peer)) {
        metrics_.connections_turned_away[connection_bound::handshakes].add();
        return {};
    }
    if (!made->over && peer) {
        made->peer = peers_.try_emplace(*peer).first;
        made->of_peer = of_peer.begin();
        append((*made->peer)->second, of_peer, first);
    }
    made->house = made->over ? &overflow_ : &regulars_;
    made->in_house = in_house.begin();
    append(*made->house, in_house, first);
    assert(overflow_.size() <= overflow_max);
    ++unasked_;
    ++open_;
    metrics_.connections.add();
    return connection_lease{*this, std::move(made)};
}

void connection_registry::append(scope& to, row& one, connection_stage first) {
    row& of_stage = to.at(first);
    of_stage.splice(of_stage.end(), one);
}

bool connection_registry::set_sender(entry& which, const net::ip::address& sender, clock::time_point now) {
    const net::ip::address peer = network_of(sender);
    row of_peer{&which};  // allocated before any change

    const std::scoped_lock lock{mutex_};
    if (which.given_up) return false;
    assert(!which.peer && !which.sender);
    which.sender = sender;
    if (which.over) return true;
    const auto whose = peers_.find(peer);
    if (whose != peers_.end() && bounds_.per_peer != 0 &&
        !make_room(whose->second, bounds_.per_peer, connection_bound::per_peer, now)) {
        which.over = connection_bound::per_peer;
        if (!make_room(overflow_, overflow_max, *which.over, now)) {
            metrics_.connections_turned_away[*which.over].add();
            return false;
        }
        row& of_stage = overflow_.at(which.stage);
        of_stage.splice(of_stage.end(), regulars_.at(which.stage), which.in_house);
        which.house = &overflow_;
        return true;
    }
    if (which.stage == connection_stage::tls_handshake && !make_room_among_handshakes_of(peer)) {
        metrics_.connections_turned_away[connection_bound::handshakes].add();
        return false;
    }
    which.peer = peers_.try_emplace(peer).first;
    which.of_peer = of_peer.begin();
    append((*which.peer)->second, of_peer, which.stage);
    return true;
}

bool connection_registry::make_room_among_handshakes_of(const std::optional<net::ip::address>& peer) {
    const auto whose = peer ? peers_.find(*peer) : peers_.end();
    return whose == peers_.end() ||
           make_room_for_handshake_in(whose->second, handshakes_of_peer_max(bounds_.handshakes));
}

bool connection_registry::make_room_for_handshake(const std::optional<net::ip::address>& peer) {
    return make_room_among_handshakes_of(peer) && make_room_for_handshake_in(regulars_, bounds_.handshakes);
}

void connection_registry::give_up_slow_handshakes(clock::time_point now) {
    const std::scoped_lock lock{mutex_};
    for (scope* const each : {&regulars_, &overflow_}) {
        const row& handshakes = each->at(connection_stage::tls_handshake);
        while (!handshakes.empty() && now - handshakes.front()->since >= slow_after &&
               give_up(handshakes.front(), connection_bound::handshakes)) {
        }
    }
}

bool connection_registry::make_room_for_handshake_in(scope& those, std::size_t handshakes_max) {
    const row& handshakes = those.at(connection_stage::tls_handshake);
    return handshakes.size() < handshakes_max ||
           give_up(handshakes.empty() ? nullptr : handshakes.front(), connection_bound::handshakes);
}

std::optional<connection_bound> connection_registry::bound_reached(const std::optional<net::ip::address>& peer,
                                                                   clock::time_point now) {
    const auto whose = peer ? peers_.find(*peer) : peers_.end();
    if (whose != peers_.end() && bounds_.per_peer != 0 &&
        !make_room(whose->second, bounds_.per_peer, connection_bound::per_peer, now))
        return connection_bound::per_peer;
    if (!make_room(regulars_, bounds_.total, connection_bound::total, now)) return connection_bound::total;
    return std::nullopt;
}

void connection_registry::lower(std::size_t total, clock::time_point now) {
    const std::scoped_lock lock{mutex_};
    bounds_.total = std::min(bounds_.total, total);
    const auto give_up_one_of_all = [&] {
        return give_up(regulars_.dispensable(now), connection_bound::descriptors) ||
               give_up(overflow_.dispensable(now), connection_bound::descriptors);
    };
    for (bool more = give_up_one_of_all(); more && regulars_.size() > bounds_.total;) more = give_up_one_of_all();
}

std::size_t connection_registry::total() const {
    const std::scoped_lock lock{mutex_};
    return bounds_.total;
}

bool connection_registry::make_room(scope& within, std::size_t bound, connection_bound reason, clock::time_point now) {
    return within.size() < bound || give_up(within.dispensable(now), reason);
}

bool connection_registry::give_up(entry* chosen, connection_bound reason) {
    if (chosen == nullptr || chosen->house->given_up >= chosen->house->given_up_max) return false;
    assert(!chosen->given_up && chosen->stage != connection_stage::working);
    // An overflow connection that has asked and waits again has had its answer. Any other gets none: it is turned away.
    if (!chosen->over)
        metrics_.connections_given_up[reason].add();
    else if (!chosen->has_asked || chosen->stage != connection_stage::waiting)
        metrics_.connections_turned_away[*chosen->over].add();
    forget(*chosen);
    chosen->given_up = true;
    ++chosen->house->given_up;
    chosen->socket.shut_down();
    return true;
}

bool connection_registry::enter(entry& which, connection_stage next, clock::time_point now) {
    const std::scoped_lock lock{mutex_};
    if (which.given_up) return false;
    const auto move = [&](scope& of, row::iterator node) {
        row& to = of.at(next);
        to.splice(to.end(), of.at(which.stage), node);
    };
    move(*which.house, which.in_house);
    if (which.peer) move((*which.peer)->second, which.of_peer);
    which.stage = next;
    which.since = now;
    if (next == connection_stage::receiving && !which.has_asked) {
        which.has_asked = true;
        --unasked_;
    }
    return true;
}

connection_registry::unfinished connection_registry::count_unfinished() const {
    const std::scoped_lock lock{mutex_};
    unfinished found{.busy = 0, .unasked = unasked_};
    for (const scope* each : {&regulars_, &overflow_})
        found.busy += each->count(connection_stage::receiving) + each->count(connection_stage::working);
    return found;
}

std::size_t connection_registry::open_count() const {
    const std::scoped_lock lock{mutex_};
    return open_;
}

void connection_registry::leave(entry& which) noexcept {
    const std::scoped_lock lock{mutex_};
    metrics_.connections.sub();
    --open_;
    assert(!which.given_up || which.house->given_up != 0);
    if (which.given_up)
        --which.house->given_up;
    else
        forget(which);
}

void connection_registry::forget(entry& which) noexcept {
    which.house->at(which.stage).erase(which.in_house);
    if (!which.has_asked) --unasked_;
    if (!which.peer) return;
    scope& all = (*which.peer)->second;
    all.at(which.stage).erase(which.of_peer);
    if (all.size() == 0) peers_.erase(*which.peer);
}

connection_lease::connection_lease(connection_registry& registry, std::unique_ptr<connection_registry::entry> which)
    : entry_(which.release(), leave{&registry}) {}

void connection_lease::leave::operator()(connection_registry::entry* which) const noexcept {
    registry->leave(*which);
    delete which;
}

namespace {

constexpr std::size_t connections_min = 8;
/// Per process: listeners, signals, streams, state, configuration, /proc. Per worker: event queue, name lookups.
constexpr std::size_t taken_by_process = 64;
constexpr std::size_t taken_by_worker = 16;

/// Descriptors for this many connections in the worst case.
std::size_t needed(std::size_t connections, const descriptor_use& others) noexcept {
    const std::size_t at_work_upstream = connections;
    // A worker's pool is never larger than its largest number of concurrent requests.
    const std::size_t idle_upstream = std::min(others.idle_upstream_max, connections) * others.workers;
    const std::size_t of_admin =
        others.admin_connections == 0 ? 0 : connection_registry::open_max(others.admin_connections);
    const std::size_t upstream =
        others.has_replicas ? others.upstream_max : std::min(others.upstream_max, at_work_upstream + idle_upstream);
    return connection_registry::open_max(connections) + of_admin + upstream + taken_by_process +
           taken_by_worker * (others.workers + 2);
}

}  // namespace

std::size_t connections_that_fit(std::uint64_t descriptors, const descriptor_use& others) noexcept {
    std::size_t fit = connections_min;
    std::size_t too_many = static_cast<std::size_t>(std::min<std::uint64_t>(descriptors, 1u << 30)) + connections_min;
    while (too_many - fit > 1) {
        const std::size_t between = fit + (too_many - fit) / 2;
        (needed(between, others) <= descriptors ? fit : too_many) = between;
    }
    return fit;
}

std::uint64_t descriptor_limit() noexcept {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;  // the usual default
}

std::uint64_t raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));  // descriptor_limit() below shows the result
    }
    return descriptor_limit();
}

void descriptor_relief::make_room() {
    const std::size_t before = senders.total();
    senders.lower(connections_that_fit(descriptor_limit(), others));
    if (senders.total() != before)
        log::warn("server.maxConnections is lowered, there are fewer descriptors",
                  {{"max_connections", senders.total()}});
}

}  // namespace seriesgate
