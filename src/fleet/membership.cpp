#include "fleet/membership.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/random.hpp"
#include "fleet/store_fitness.hpp"
#include "limit/limiter.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto beat_interval = 1s;
/// People change a server's settings while it runs.
constexpr auto examine_interval = 5s;
/// At the end of an hour the store is asked as soon as the next one may have begun, and again until it has.
constexpr auto edge_interval = 10ms;
/// Counts that are not whole are offered, and asked about again, so often.
constexpr auto recovery_interval = 200ms;
/// What recover.lua waits at most, and a little: then this gate serves what it may.
constexpr auto recovery_patience = 7s;
/// Of gates that are alive the last sign is no older.
constexpr std::int64_t alive_seconds = 5;
/// Gates that are named in an offer, at most.
constexpr std::size_t others_max = 256;

constexpr const char* foreign =
    "the gates of this namespace make other fingerprints: fingerprint.secretFile, ignoreLabels and the version have to "
    "be "
    "the same at all of them, or shared.namespace another one";
constexpr const char* nameless = "INFO server has no run_id: without it nobody notices that a server has lost counts";

std::string name_of_run(const std::string& gate) {
    return fmt::format("{}/{:016x}", gate, random_number());
}

}  // namespace

membership::membership(net::io_context& io, fleet_shared& shared, gate_identity who)
    : shared_(shared),
      who_(std::move(who)),
      run_(name_of_run(who_.name)),
      client_(io, shared.settings.store, shared.store),
      enrolment_(shared, run_),
      shares_(shared, run_),
      recovery_(shared, who_.name) {}

net::awaitable<std::string> membership::join() {
    async_timer timer{co_await net::this_coro::executor};
    const auto give_up = clock::now() + recovery_patience;
    for (;;) {
        const auto in_the_way = co_await beat();
        if (in_the_way && in_the_way->must_not) co_return in_the_way->why;
        stand(in_the_way);
        if (!in_the_way || !in_the_way->recovers || clock::now() >= give_up) co_return std::string{};
        timer.expires_after(recovery_interval);
        co_await timer.async_wait(no_throw);
    }
}

net::awaitable<void> membership::keep(const series_limiter& limiter) {
    enrolment_.begin_by(limiter.rules());
    async_timer timer{co_await net::this_coro::executor};
    for (;;) {
        timer.expires_after(until_next());
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
        client_.maintain();
        const auto in_the_way = co_await beat();
        stand(in_the_way);
        if (in_the_way) continue;
        co_await enrolment_.keep(client_, limiter.rules());
        co_await shares_.keep(client_, limiter.rules());
    }
}

net::awaitable<void> membership::leave() {
    async_timer timer{co_await net::this_coro::executor};
    for (;;) {
        const bool has_left = co_await enrolment_.leave(client_);
        if (has_left) co_return;
        timer.expires_after(edge_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

void membership::stand(const std::optional<obstacle>& in_the_way) {
    if (!in_the_way) return joined();
    in_the_way->recovers ? recovers() : parted(*in_the_way);
}

membership::clock::duration membership::until_next() const {
    if (recovering_since_) return recovery_interval;
    if (shared_.state() != fleet_state::joined) return beat_interval;
    const auto edge = std::chrono::duration_cast<clock::duration>(shared_.clock.until_hour_ends(clock::now()));
    const auto beat = edge > beat_interval ? beat_interval : std::max<clock::duration>(edge, edge_interval);
    return std::min(beat, enrolment_.until_next().value_or(beat));
}

/// A server is examined when it is new to us, when it comes back, for it may be another one by then, and now and again.
net::awaitable<std::optional<membership::obstacle>> membership::beat() {
    const bool may_be_another = shared_.state() != fleet_state::joined && !recovering_since_;
    if (may_be_another || clock::now() >= examined_at_ + examine_interval) {
        auto unfit = co_await examine();
        if (unfit) co_return unfit;
        examined_at_ = clock::now();
    }
    std::vector<std::string> words = beat_words(who_, shared_.keys);
    const auto reply = co_await client_.call_script_there(beat_script(), std::move(words), answer_patience);
    if (!reply) co_return obstacle{.why = reply.error().text};
    auto answer = read_beat_answer(**reply);
    if (!answer) co_return obstacle{.why = answer.error()};
    if (answer->is_foreign) co_return obstacle{.why = foreign, .must_not = true};
    shared_.clock.hear(answer->now, clock::now());
    shared_.set_members(std::move(answer->members));
    if (!answer->is_whole || !recovery_.has_offered_in(answer->since)) co_return co_await recover();
    remember_others();
    co_return std::nullopt;
}

/// The server has lost counts, or had when this gate could not hear it: it gets those that this gate has heard.
net::awaitable<std::optional<membership::obstacle>> membership::recover() {
    if (!recovering_since_) recovery_.begin();
    untold_series_of untold = enrolment_.interrupt();
    const auto whole = co_await recovery_.offer(client_, others_, std::move(untold), answer_patience);
    if (!whole) co_return obstacle{.why = whole.error()};
    if (*whole) co_return std::nullopt;
    co_return obstacle{.why = "it has lost counts", .recovers = true};
}

void membership::remember_others() {
    others_.clear();
    for (const fleet_member& each : shared_.members())
        if (each.seen_seconds_ago <= alive_seconds && others_.size() < others_max) others_.push_back(each.name);
}

net::awaitable<std::optional<membership::obstacle>> membership::examine() {
    std::string info;
    for (const char* const section : {"server", "memory"}) {
        std::vector<std::string> words{"INFO", section};
        const auto reply = co_await client_.call(std::move(words), answer_patience);
        // Who may not ask is not told. Without INFO server there is no connection: see redis_greeting.hpp.
        const bool is_kept = !reply && client_.is_connected() && reply.error().why == redis_error::kind::denied;
        if (!reply && !is_kept) co_return obstacle{.why = reply.error().text};
        if (reply) info.append(text_of(**reply)).append("\n");
    }
    if (client_.run_id().empty()) co_return obstacle{.why = nameless, .must_not = true};
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
    if (before == fleet_state::recovering) {
        const auto lasted = std::chrono::duration<double>(clock::now() - *recovering_since_);
        log::info("the shared store's counts are whole", {{"recovery_seconds", lasted.count()},
                                                          {"budgets", recovery_.budgets()},
                                                          {"gates", shared_.members().size()}});
    } else if (away_since_) {
        end_outage();
    } else {
        log::info("joined the fleet", {{"namespace", shared_.settings.name_space},
                                       {"name", who_.name},
                                       {"gates", shared_.members().size()},
                                       {"server", server_}});
    }
    recovering_since_.reset();
}

/// A gate that begins has nothing to say about it.
void membership::recovers() {
    if (!recovering_since_) recovering_since_ = clock::now();
    const fleet_state before = shared_.state();
    if (before == fleet_state::joining || before == fleet_state::recovering) return;
    if (away_since_) end_outage();
    shared_.set_state(fleet_state::recovering);
    shared_.metrics.recoveries.add();
    log::warn("the shared store may have lost counts",
              {{"new_series", new_series()}, {"budgets", recovery_.budgets()}});
}

void membership::end_outage() {
    const auto lasted = std::chrono::duration<double>(clock::now() - *away_since_);
    log::info("the shared store answers again", {{"outage_seconds", lasted.count()}, {"server", server_}});
    away_since_.reset();
    said_.clear();
}

/// Once for each reason.
void membership::parted(const obstacle& by) {
    if (!away_since_) away_since_ = clock::now();
    recovering_since_.reset();
    shared_.set_state(fleet_state::away);
    if (said_ == by.why) return;
    said_ = by.why;
    log::warn("the shared store is away", {{"new_series", new_series()}, {"err", by.why}});
}

/// What becomes of them, as the log has it.
const char* membership::new_series() const noexcept {
    if (shared_.settings.on_unavailable == unavailable_answer::admit) return "admitted";
    return shared_.own_shares.has_share(hour_number(shared_.now())) ? "a share" : "refused";
}

}  // namespace seriesgate
