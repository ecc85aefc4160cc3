#include "fleet/membership.hpp"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "fleet/store_text.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/telling.hpp"
#include "limit/window_rotation.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto beat_interval = 1s;
/// While gates refill the store, new series wait for them.
constexpr auto refill_interval = 200ms;
/// People change a server's settings while it runs.
constexpr auto examine_interval = 5s;
/// A series that passed unasked is told so late at most.
constexpr auto tell_interval = 100ms;
constexpr auto tell_pause_max = 1000ms;
constexpr auto leave_interval = 10ms;

constexpr const char* foreign =
    "the gates of this namespace make other fingerprints: fingerprint.secretFile, ignoreLabels and the version have to "
    "be the same at all of them, or shared.namespace another one";
constexpr const char* nameless = "INFO server has no run_id: without it nobody notices that a server has lost counts";
constexpr const char* other_time = "its clock is wrong, or this gate's is";

/// Scripts that write after they have asked for the time, EXPIREAT in them, SMISMEMBER.
constexpr std::pair<unsigned, unsigned> version_min{6, 2};

/// The first two numbers of a version such as "7.0.15". Anything else counts as new enough.
std::pair<unsigned, unsigned> version_of(std::string_view text) {
    std::pair<unsigned, unsigned> version{~0u, 0u};
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, version.first);
    if (major.ec == std::errc{} && major.ptr != end) std::from_chars(major.ptr + 1, end, version.second);
    return version;
}

/// For people: "Redis 7.0.15", "Valkey 8.1.1".
std::string server_in(std::string_view info) {
    const std::string_view valkey = info_field(info, "valkey_version");
    return valkey.empty() ? "Redis " + std::string{info_field(info, "redis_version")} : "Valkey " + std::string{valkey};
}

/// Why the server cannot hold a fleet's counts, in a line that says which setting to change; empty if it can. What it
/// does not say is not held against it. An evicted count would let more series pass than a limit allows.
std::string unfitness_of(std::string_view info) {
    if (version_of(info_field(info, "redis_version")) < version_min)
        return server_in(info) + " is too old, gates need what Redis 6.2 and every Valkey has";
    const std::string_view policy = info_field(info, "maxmemory_policy");
    if (!policy.empty() && policy != "noeviction")
        return "its maxmemory-policy is " + std::string{policy} +
               ", which may throw counts away: set maxmemory-policy to noeviction";
    return {};
}

bool knows_series(const series_limiter& limiter) {
    const limiter_figures figures = figures_of_windows(limiter);
    return figures.hourly.series_current != 0 || figures.daily.series_current != 0 ||
           figures.global.hourly.series_reserved != 0;
}

}  // namespace

membership::membership(net::io_context& io, fleet_shared& shared)
    : shared_(shared), client_(io, shared.settings.store, shared.store) {}

std::chrono::seconds membership::grace() const {
    return limiter_->rules()->incumbent_grace;
}

net::awaitable<std::string> membership::greet() {
    const auto in_the_way = co_await examine();
    if (in_the_way) co_return in_the_way->must_not ? in_the_way->why : std::string{};
    std::vector<std::string> words = feed_read_words("", 0, shared_.keys);
    const auto reply = co_await client_.call_script(shared_.gates, std::move(words), answer_patience);
    const auto page = reply ? read_feed_page(**reply) : result<feed_page, std::string>{reply.error().text};
    if (!page) co_return std::string{};  // join() says why
    const auto at = fleet_shared::clocks();
    const open_windows& open = page->state.windows;
    if (witnessed_clock::agree(open.now, at.own))  // else heartbeats ask the other gates
        static_cast<void>(shared_.view.clock.correct(open.now, open.hour, at.steady, at.own));
    co_return std::string{};
}

net::awaitable<std::string> membership::join(series_limiter& limiter, const hash_key& key) {
    limiter_ = &limiter;
    walker_.emplace(limiter, key);
    rules_.emplace(key);
    session_.emplace(shared_.view, shared_.who, knows_series(limiter), shared_.now(), grace(), lapsed_hour_of(limiter));
    const auto in_the_way = co_await beat();
    if (in_the_way && in_the_way->must_not) co_return in_the_way->why;
    log_state(in_the_way);
    co_return std::string{};
}

net::awaitable<void> membership::keep() {
    while (!has_left_) {
        const bool is_refilling = shared_.view.state() == store_reach::refilling;
        const auto pause = is_refilling ? std::chrono::milliseconds{refill_interval} : beat_interval;
        co_await sleep_for(pause);
        if (has_left_) co_return;
        if (is_leaving_) continue;
        client_.maintain();
        const auto in_the_way = co_await beat();
        log_state(in_the_way);
        if (!in_the_way) show_heard_counts(*limiter_, shared_.view, *rules_);
    }
}

/// Sends a heartbeat. First examines the server if it was not reachable, because it may be another one by now, and
/// every few seconds.
net::awaitable<std::optional<membership::obstacle>> membership::beat(bool leaves) {
    if (!shared_.view.is_reachable() || clock::now() >= examined_at_ + examine_interval) {
        auto unfit = co_await examine();
        if (unfit) {
            session_->lose_store();
            if (client_.is_connected()) *shared_.server.lock() = client_.run_id();
            co_return unfit;
        }
        examined_at_ = clock::now();
    }
    const heartbeat said = session_->next({.at = fleet_shared::clocks(),
                                           .grace = grace(),
                                           .refilled = walker_->refilled(),
                                           .leaves = leaves,
                                           .is_clean = [this] { return walker_->is_clean(); }});
    std::vector<std::string> words = heartbeat_words(said, shared_.keys);
    const auto reply = co_await client_.call_script(shared_.gates, std::move(words), answer_patience);
    // A full server cannot note the heartbeat. It is there, and claims say why it takes none.
    const bool is_full = !reply && reply.error().why == redis_error::kind::out_of_memory;
    if (reply || is_full) *shared_.server.lock() = client_.run_id();
    if (is_full && shared_.view.state() == store_reach::joined) co_return std::nullopt;
    const auto answer =
        reply ? read_heartbeat_answer(**reply) : result<heartbeat_answer, std::string>{reply.error().text};
    if (!answer) {
        session_->lose_store();
        co_return obstacle{.why = answer.error()};
    }
    const gate_session::news came = session_->take_answer(*answer, fleet_shared::clocks());
    if (came == gate_session::news::foreign) session_->lose_store();
    if (came == gate_session::news::foreign) co_return obstacle{.why = foreign, .must_not = true};
    if (came == gate_session::news::wrong_clock) co_return obstacle{.why = other_time};
    act_on(came);
    note_lapse(*limiter_, session_->lapsed_hour());
    *shared_.members.lock() = {.all = answer->gates, .as_of = clock::now()};
    co_return std::nullopt;
}

void membership::act_on(gate_session::news of) {
    if (of == gate_session::news::lost_data) {
        tell_all(*limiter_);
        walker_->refill(session_->place());
        session_->begins_refill();
        shared_.metrics.losses.add(shared_.view.state() == store_reach::refilling ? 1 : 0);
    }
    note_refilled();
}

void membership::note_refilled() {
    if (!walker_->refilled() && !shared_.view.has_earlier_answers(losses_of(*limiter_))) session_->has_refilled();
}

// --- Telling.

net::awaitable<void> membership::tell() {
    std::chrono::milliseconds pause = tell_interval;
    while (!has_left_) {
        std::chrono::milliseconds wait = tell_interval;
        if (shared_.view.is_reachable()) {
            static_cast<void>(limiter_->sets_at(shared_.now()));  // no mark changes its meaning on the way
            const auto call = walker_->next();
            shared_.metrics.untold.set(static_cast<std::int64_t>(walker_->waiting()));
            note_refilled();
            if (!call && shared_.view.state() == store_reach::joined) ++shared_.told_rounds;
            if (call) {
                const bool is_told = co_await tell_one(*call);
                note_refilled();
                wait = pause;
                pause = is_told ? std::chrono::milliseconds{tell_interval}
                                : std::min(2 * pause, std::chrono::milliseconds{tell_pause_max});
                if (is_told) continue;
            }
        }
        co_await sleep_for(wait);
    }
}

/// @return whether the store has decided.
net::awaitable<bool> membership::tell_one(const store_call& call) {
    std::vector<std::string> words = call_words(call, shared_.terms_of(*walker_), shared_.keys);
    const auto reply = co_await client_.call_script(shared_.calls, std::move(words), answer_patience);
    const auto answer = reply ? read_answer(**reply, call) : result<store_answer, std::string>{reply.error().text};
    if (answer) shared_.hear(answer->windows);
    if (!answer || answer->status != store_status::decided) {
        if (!answer && reply) shared_.store.note({.why = redis_error::kind::protocol, .text = answer.error()});
        walker_->is_not_told();
        co_return false;
    }
    shared_.view.hear(call, *answer);
    walker_->is_told();
    for (const series_decision& each : answer->series) shared_.metrics.told[each.outcome].add();
    co_return true;
}

net::awaitable<void> membership::leave(bool for_good) {
    do {
        is_leaving_ = false;
        while (!walker_->is_clean()) co_await sleep_for(leave_interval);
        if (!for_good) co_return;
        is_leaving_ = true;
        if (shared_.view.is_reachable()) static_cast<void>(co_await beat(true));
    } while (walker_->refilled());  // the store has lost data, and has heard of it only now
    has_left_ = true;
}

// --- The server.

net::awaitable<std::optional<membership::obstacle>> membership::examine() {
    std::string info;
    for (const char* const section : {"server", "memory"}) {
        std::vector<std::string> words{"INFO", section};
        const auto reply = co_await client_.call(std::move(words), answer_patience);
        // A denied section of INFO counts as fit. Without INFO server there is no connection: see redis_connector.hpp.
        const bool is_kept = !reply && client_.is_connected() && reply.error().why == redis_error::kind::denied;
        if (!reply && !is_kept) co_return obstacle{.why = reply.error().text};
        if (reply) info.append(text_of(**reply)).append("\n");
    }
    if (client_.run_id().empty()) co_return obstacle{.why = nameless, .must_not = true};
    server_ = server_in(info);
    std::string unfit = unfitness_of(info);
    if (unfit.empty()) co_return std::nullopt;
    co_return obstacle{.why = std::move(unfit), .must_not = true};
}

// --- The log.

void membership::log_state(const std::optional<obstacle>& in_the_way) {
    const store_reach now = shared_.view.state();
    if (in_the_way) return log_away(*in_the_way);
    if (away_since_) log_back();
    if (now == store_reach::refilling) {
        if (refilling_since_) return;
        refilling_since_ = clock::now();
        if (has_joined_) log::warn("the shared store has lost data", {{"new_series", new_series()}});
        return;
    }
    const std::size_t gates = shared_.members.lock()->all.size();
    if (!has_joined_) {
        log::info("joined the fleet", {{"namespace", shared_.settings.name_space},
                                       {"name", shared_.who.name},
                                       {"gates", gates},
                                       {"server", server_}});
    } else if (refilling_since_) {
        log::info("the shared store has its data again",
                  {{"refill_seconds", std::chrono::duration<double>(clock::now() - *refilling_since_).count()},
                   {"gates", gates}});
    }
    has_joined_ = true;
    refilling_since_.reset();
}

/// Once for each reason.
void membership::log_away(const obstacle& by) {
    if (!away_since_) away_since_ = clock::now();
    if (said_ == by.why) return;
    said_ = by.why;
    if (shared_.view.state() == store_reach::wrong_clock)
        log::warn("the shared store's clock is wrong",
                  {{"offset_seconds", std::chrono::duration<double>(shared_.clock_offset()).count()},
                   {"new_series", new_series()}});
    else
        log::warn("the shared store is away", {{"new_series", new_series()}, {"err", by.why}});
}

void membership::log_back() {
    const double lasted = std::chrono::duration<double>(clock::now() - *away_since_).count();
    if (said_ == other_time)
        log::info("the shared store's clock is right again", {{"outage_seconds", lasted}, {"server", server_}});
    else
        log::info("the shared store answers again", {{"outage_seconds", lasted}, {"server", server_}});
    away_since_.reset();
    said_.clear();
}

/// What becomes of them, as the log has it.
const char* membership::new_series() const {
    if (shared_.settings.on_unavailable == unavailable_answer::admit) return "admitted";
    const bool has_part = shared_.settings.on_unavailable == unavailable_answer::local && shared_.view.knows_counts() &&
                          shared_.view.windows().hour == hour_number(shared_.now());
    return has_part ? "a part of the room" : "refused";
}

}  // namespace seriesgate
