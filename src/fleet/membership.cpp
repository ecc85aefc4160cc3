#include "fleet/membership.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>
#include <vector>

#include "fleet/store_fitness.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto beat_interval = 1s;
/// At the end of an hour the store is asked as soon as the next one may have begun, and again until it has.
constexpr auto edge_interval = 10ms;
/// For an answer: a busy store is not away.
constexpr auto patience = 2s;

constexpr const char* foreign =
    "the gates of this namespace make other fingerprints: fingerprint.secretFile, ignoreLabels and the version have to "
    "be "
    "the same at all of them, or shared.namespace another one";

}  // namespace

membership::membership(net::io_context& io, fleet_shared& shared, gate_identity who)
    : shared_(shared),
      who_(std::move(who)),
      client_(io, shared.settings.store, shared.store),
      enrolment_(shared, who_.name) {}

net::awaitable<std::string> membership::join() {
    const auto in_the_way = co_await beat();
    if (!in_the_way) {
        joined();
        co_return std::string{};
    }
    if (in_the_way->must_not) co_return in_the_way->why;
    parted(*in_the_way);
    co_return std::string{};
}

net::awaitable<void> membership::keep(const series_limiter& limiter) {
    net::steady_timer timer{co_await net::this_coro::executor};
    for (;;) {
        timer.expires_after(until_next());
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
        client_.maintain();
        const auto in_the_way = co_await beat();
        if (in_the_way) {
            parted(*in_the_way);
        } else {
            joined();
            co_await enrolment_.keep(client_, limiter.rules());
        }
    }
}

net::awaitable<void> membership::leave() {
    net::steady_timer timer{co_await net::this_coro::executor};
    for (;;) {
        const bool has_left = co_await enrolment_.leave(client_);
        if (has_left) co_return;
        timer.expires_after(edge_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

membership::clock::duration membership::until_next() const {
    if (shared_.state() != fleet_state::joined) return beat_interval;
    const auto edge = std::chrono::duration_cast<clock::duration>(shared_.clock.until_hour_ends(clock::now()));
    const auto beat = edge > beat_interval ? beat_interval : std::max<clock::duration>(edge, edge_interval);
    return std::min(beat, enrolment_.until_next().value_or(beat));
}

/// A server is examined when it is new to us, and when it comes back: it may be another one by then.
net::awaitable<std::optional<membership::obstacle>> membership::beat() {
    if (shared_.state() != fleet_state::joined) {
        auto unfit = co_await examine();
        if (unfit) co_return unfit;
    }
    std::vector<std::string> words = beat_words(who_, shared_.keys);
    const auto reply = co_await client_.call_script(beat_script(), std::move(words), patience);
    if (!reply) co_return obstacle{.why = reply.error().text};
    auto answer = read_beat_answer(**reply);
    if (!answer) co_return obstacle{.why = answer.error()};
    if (answer->is_foreign) co_return obstacle{.why = foreign, .must_not = true};
    shared_.clock.hear(answer->now, clock::now());
    shared_.set_members(std::move(answer->members));
    co_return std::nullopt;
}

net::awaitable<std::optional<membership::obstacle>> membership::examine() {
    std::string info;
    for (const char* const section : {"server", "memory"}) {
        std::vector<std::string> words{"INFO", section};
        const auto reply = co_await client_.call(std::move(words), patience);
        // Who may not ask is not told; all else is a reason.
        if (!reply && reply.error().why != redis_error::kind::denied) co_return obstacle{.why = reply.error().text};
        if (reply) info.append(text_of(**reply)).append("\n");
    }
    const store_facts facts = read_store_facts(info);
    server_ = facts.server;
    std::string unfit = unfitness_of(facts);
    if (unfit.empty()) co_return std::nullopt;
    co_return obstacle{.why = std::move(unfit), .must_not = true};
}

void membership::joined() {
    const fleet_state before = shared_.state();
    if (before == fleet_state::joined) return;
    shared_.set_state(fleet_state::joined);
    if (away_since_) {
        const auto lasted = std::chrono::duration<double>(clock::now() - *away_since_);
        log::info("the shared store answers again", {{"outage_seconds", lasted.count()}, {"server", server_}});
    } else {
        log::info("joined the fleet", {{"namespace", shared_.settings.name_space},
                                       {"name", who_.name},
                                       {"gates", shared_.members().size()},
                                       {"server", server_}});
    }
    away_since_.reset();
    said_.clear();
}

/// Once for each reason.
void membership::parted(const obstacle& by) {
    if (!away_since_) away_since_ = clock::now();
    shared_.set_state(fleet_state::away);
    if (said_ == by.why) return;
    said_ = by.why;
    const bool admits = shared_.settings.on_unavailable == unavailable_answer::admit;
    log::warn("the shared store is away", {{"new_series", admits ? "admitted" : "refused"}, {"err", by.why}});
}

}  // namespace seriesgate
