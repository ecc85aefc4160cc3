#include "ingest/ingestor.hpp"

#include <fmt/format.h>

#include <cassert>
#include <chrono>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/endpoint.hpp"
#include "config/units.hpp"
#include "ingest/sender_texts.hpp"
#include "ingest/series_sampler.hpp"
#include "ingest/warm_series.hpp"
#include "limit/rules.hpp"
#include "net/async.hpp"
#include "upstream/loop_detection.hpp"

namespace seriesgate {
namespace {

/// Longest tenant name; the gate keeps the name of each tenant in memory.
constexpr std::size_t tenant_bytes_max = group_key_bytes_max;

constexpr auto maintenance_interval = std::chrono::seconds{1};

/// Larger decoded bodies are giants: a worker reads one of them at a time.
constexpr std::size_t large_body_bytes = 1u << 20;
constexpr std::size_t giants_waiting_max = 1'024;

/// The hour may end while a request asks the shared store, and rules may change. After this many tries the gate decides
/// without an answer.
constexpr int asked_max = 3;

/// Answers 508, so that the sender keeps the data until someone corrects the upstream's address.
reply looped() {
    return rejection(reject_reason::loop, 508,
                     "loop: the request has been here before, or has passed too many gates (see its Via header): an "
                     "upstream.url leads back");
}

/// Answers 503: the request got no turn among the large ones in time.
reply no_turn(std::chrono::milliseconds patience) {
    return with_retry_after(
        rejection(reject_reason::queue_delay, 503,
                  fmt::format("large requests take turns, and there was none within upstream.timeout ({}); "
                              "try again",
                              format_duration(patience))));
}

}  // namespace

ingestor::ingestor(net::io_context& io, ingest_shared& shared)
    : io_(io),
      shared_(shared),
      pool_(shared.settings, shared.key, shared.labels),
      forwarder_(io, shared),
      large_body_turns_(io, 1, giants_waiting_max) {
    const upstream_config& upstream = shared.settings.upstream;
    find_tenant_placeholders(upstream.store);
    for (const replica_config& each : upstream.replicas) find_tenant_placeholders(each.store);
    if (shared.fleet == nullptr) return;
    claimer_.emplace(io, *shared.fleet);
}

void ingestor::find_tenant_placeholders(const store_config& store) {
    for (const store_backend& each : store.backends) {
        const auto mark = tenant_mark_of(each);
        store_url_has_tenant_ = store_url_has_tenant_ || mark.has_value();
        tenant_must_be_account_ = tenant_must_be_account_ || (mark && mark->is_account);
    }
}

net::awaitable<void> ingestor::maintain() {
    for (;;) {
        forwarder_.maintain();
        if (claimer_) claimer_->maintain();
        co_await sleep_for(maintenance_interval);
    }
}

net::awaitable<reply> ingestor::answer(http_request& request) {
    shared_.metrics.received_bytes.add(request.body.size());
    if (is_request_loop(request.headers)) co_return looped();
    if (auto wrong = tenant_fault(request.tenant)) co_return std::move(*wrong);
    if (asks_for_zstd(request)) co_return co_await forwarder_.ask_for_zstd(request);
    const body_format kind = body_format_of(request.headers, request.body);
    if (!kind.fault.empty()) co_return rejection(reject_reason::unsupported_media, 415, kind.fault);

    auto prepared = co_await prepare(request, kind);
    if (!prepared) co_return prepared.error();
    const outgoing& sent = *prepared;
    count(sent);

    reply made{.status = 204};
    if (sent.forward != body_action::nothing) made = co_await send(request, sent);
    complete(request, sent, made);
    co_return made;
}

/// Rejects a tenant name that is too long, or that does not fit into a store's URL.
std::optional<reply> ingestor::tenant_fault(std::string_view tenant) const {
    if (tenant.size() > tenant_bytes_max)
        return rejection(reject_reason::too_large, 400,
                         fmt::format("tenant name of more than {} bytes: {}", tenant_bytes_max, tenant.size()));
    const bool fits =
        (!store_url_has_tenant_ || fits_path(tenant, false)) && (!tenant_must_be_account_ || fits_path(tenant, true));
    if (fits) return std::nullopt;
    return rejection(
        reject_reason::invalid_http, 400,
        fmt::format("the tenant \"{}\" cannot stand in the URL of the store: it is {}", shown_in_answer(tenant),
                    tenant_must_be_account_ ? "an account, 7 or 7:1" : "letters, digits, -, ., _, ~ and :"));
}

/// Catches bad_alloc, so that samples already counted as received are counted as failed.
net::awaitable<reply> ingestor::send(const http_request& request, const outgoing& sent) {
    try {
        reply made = co_await forwarder_.send(request, sent);
        co_return made;
    } catch (const std::bad_alloc&) {
    }
    co_return out_of_memory();
}

/// All steps from the body to the outgoing request; in a fleet it may wait for the shared store. Counts no samples of a
/// rejected request. Returns the work to the pool at its end, so no request holds work while it waits for the upstream.
/// @return the outgoing request, or the answer that rejects the request.
net::awaitable<result<outgoing, reply>> ingestor::prepare(http_request& request, const body_format& kind) {
    try {
        const std::string_view tenant = request.tenant;
        if (!forwarder_.take_room(request)) co_return overloaded(request.memory.use());
        const work_pool::lease work = pool_.take(request.memory);
        const auto decoded = co_await read(request, kind, *work);
        if (!decoded) co_return decoded.error();
        const auto decided = co_await decide(tenant, request.memory, *work);
        if (!decided) co_return decided.error();
        const decided_request whole{
            .from = request, .kind = kind, .tenant = tenant, .decoded = *decoded, .decided = *decided};
        sample_series(whole, work->planning, shared_);  // first: when the request comes again, its series are not new
        auto made = make_outgoing(whole, *work, shared_.limiter, shared_.settings.upstream);
        if (!made) co_return overloaded(request.memory.use());
        report(whole, *work);
        co_return std::move(*made);
    } catch (const std::bad_alloc&) {
    }
    co_return out_of_memory();
}

/// Logs and counts what was refused or left out.
void ingestor::report(const decided_request& request, request_work& work) {
    const refusing_request refusing{.decided = request.decided,
                                    .planning = work.planning,
                                    .limiter = shared_.limiter,
                                    .sender = request.from.sender,
                                    .tenant = request.tenant};
    log_refusals(refusing, shared_.logs);
    count_refusals(refusing, shared_.metrics);
    note_left_out(refusing, shared_.metrics, shared_.logs.left_out);
}

/// Decodes a body at once, then parses it in steps (planner::read_on), so that the worker serves others in between.
/// Large bodies take turns.
/// @return the decoded body, or the answer that rejects the request.
net::awaitable<result<bytes_view, reply>> ingestor::read(const http_request& request, const body_format& kind,
                                                         request_work& work) {
    const std::uint64_t decoded_max = shared_.settings.server.decoded_bytes_max;
    const auto size = body_codec::decoded_size(kind.coding, request.body, decoded_max);
    if (!size) co_return undecodable(size.error(), decoded_max);
    std::optional<fair_queue::turn> turn;
    if (*size > large_body_bytes) {
        const auto patience = shared_.settings.upstream.timeout;
        turn.emplace(co_await large_body_turns_.take(request.sender, fair_queue::clock::now() + patience));
        if (!*turn) co_return no_turn(patience);
    }
    const auto decoded = decode(request, kind, *size, work);
    if (!decoded) co_return decoded.error();
    work.planning.begin(*decoded, request.tenant, kind.version);
    while (work.planning.read_on()) co_await net::post(io_, net::use_awaitable);
    const wire_error wrong = work.planning.read_error();
    if (wrong.code != wire_errc::none) co_return malformed(wrong);
    co_return *decoded;
}

/// @param size of the decoded body, or an upper bound.
result<bytes_view, reply> ingestor::decode(const http_request& request, const body_format& kind, std::size_t size,
                                           request_work& work) {
    const std::uint64_t decoded_max = shared_.settings.server.decoded_bytes_max;
    if (!work.memory->grow(size)) return overloaded(request.memory.use());
    const auto decoded = work.codec.decode(kind.coding, request.body, decoded_max, work.decoding);
    if (!decoded) return undecodable(decoded.error(), decoded_max);
    shared_.metrics.decoded_bytes.add(decoded->size());
    return *decoded;
}

net::awaitable<result<plan, reply>> ingestor::decide(std::string_view tenant, const inflight_lease& body,
                                                     request_work& work) {
    const std::uint64_t asking = claimer_ ? work.planning.entry_count() * store_questions::series_bytes_max : 0;
    if (!work.memory->grow(work.planning.bytes() + asking)) co_return overloaded(body.use());
    if (shared_.warm.is_reading()) co_return work.planning.pass(shared_.limiter, shared_.now(), tenant);
    shared_.warm.meet(work.planning.offered());
    if (!claimer_) {
        const auto decided = work.planning.decide(shared_.limiter, shared_.now(), tenant);
        if (!decided) co_return malformed(decided.error());
        co_return *decided;
    }
    const auto decided = co_await decide_in_fleet(tenant, work);
    if (!decided) co_return malformed(decided.error());
    co_return *decided;
}

/// Looks up, asks the shared store about unknown series, and decides. Tries again if the hour or the rules have changed
/// meanwhile.
net::awaitable<result<plan, wire_error>> ingestor::decide_in_fleet(std::string_view tenant, request_work& work) {
    series_limiter& limiter = shared_.limiter;
    fleet_shared& fleet = *shared_.fleet;
    request_tickets holds;
    for (int times = 0; times < asked_max; ++times) {
        const fleet_moment at{.view = fleet.view, .now = fleet.now(), .steady = monotonic_clock::now()};
        const wire_error wrong = work.planning.collect_questions(limiter, at, tenant, work.questions, holds);
        if (wrong.code != wire_errc::none) co_return wrong;
        const auto decision = co_await claimer_->ask(work.questions, tenant);
        if (decision && !work.planning.is_outdated(limiter, fleet.now()))
            co_return work.planning.apply_fleet_decision(limiter, fleet.now(), tenant, *decision);
    }
    const fleet_decision alone = claimer_->decide(work.questions);
    co_return work.planning.apply_fleet_decision(limiter, fleet.now(), tenant, alone);
}

void ingestor::count(const outgoing& made) {
    const plan_counts& decided = made.decided;
    ingest_metrics& metrics = shared_.metrics;
    metrics.requests_forwarded[made.forward].add();
    metrics.untranslated_histograms.add(made.lost.histograms);
    metrics.untranslated_series.add(made.lost.invalid.series);
    metrics.samples_received.add(decided.received.samples);
    metrics.samples_accepted.add(decided.accepted().samples);
    metrics.samples_refused.add(decided.refused.samples);
    metrics.samples_refused_by_limits.add(decided.refused.samples - decided.refused_unknown_samples);
    metrics.unknown_dropped.add(decided.refused_unknown_entries);
    metrics.histograms_received.add(decided.received.histograms);
    metrics.exemplars_received.add(decided.received.exemplars);
    metrics.metadata_received.add(decided.metadata + decided.empty_entries);
}

void ingestor::complete(const http_request& request, const outgoing& sent, reply& answer) {
    const answer_rules rules{.reject_status = shared_.settings.reject_status,
                             .discards = shared_.settings.upstream.discard};
    const std::uint64_t stored = stored_samples(sent, rules, answer);
    const std::uint64_t accepted = sent.decided.accepted().samples;
    assert(stored <= accepted);
    shared_.metrics.samples_stored.add(stored);
    shared_.metrics.samples_failed.add(accepted - stored);
    log_unconfirmed(finish_answer(sent, rules, answer), accepted - stored, request);
}

void ingestor::log_unconfirmed(confirmation confirmed, std::uint64_t samples, const http_request& request) {
    const upstream_config& upstream = shared_.settings.upstream;
    if (confirmed == confirmation::missing) {
        shared_.metrics.unconfirmed_requests.add();
        if (const auto news = shared_.logs.unconfirmed.count(samples)) write_unconfirmed(*news, upstream);
    } else if (confirmed == confirmation::partial) {
        shared_.metrics.partly_written_requests.add();
        if (const auto news = shared_.logs.partly_written.count(samples))
            log::warn("the store wrote less than it was sent", {{"requests", news->requests},
                                                                {"samples", news->samples},
                                                                {"sender", request.sender},
                                                                {"tenant", shown_tenant(request.tenant)},
                                                                {"upstream", stores_waited_for(upstream)}});
    }
}

}  // namespace seriesgate
