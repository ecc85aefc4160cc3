#include "ingest/ingestor.hpp"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <chrono>
#include <new>
#include <utility>

#include "ingest/refusals.hpp"
#include "ingest/rejections.hpp"
#include "ingest/tell_rest.hpp"
#include "ingest/texts.hpp"
#include "limit/group_key.hpp"
#include "log/log.hpp"
#include "net/wall_clock.hpp"
#include "upstream/via.hpp"

namespace seriesgate {
namespace {

/// No tenant has a longer name; that of each is kept in memory.
constexpr std::size_t tenant_bytes_max = group_key_bytes_max;

constexpr auto maintenance_interval = std::chrono::seconds{1};

}  // namespace

ingestor::ingestor(net::io_context& io, ingest_shared& shared)
    : io_(io), shared_(shared), pool_(shared.settings, shared.key), relay_(io, shared) {}

net::awaitable<void> ingestor::maintain() {
    net::steady_timer timer{io_};
    for (;;) {
        relay_.maintain();
        timer.expires_after(maintenance_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

net::awaitable<reply> ingestor::answer(http_request& request) {
    shared_.metrics.received_bytes.add(request.body.size());
    if (goes_in_circles(request.headers)) co_return looped();
    if (asks_for_zstd(request)) co_return co_await relay_.ask_for_zstd(request);
    const media kind = media_of(request.headers);
    if (!kind.fault.empty()) co_return unsupported_media(kind.fault);

    auto prepared = prepare(request, kind);
    if (!prepared) co_return prepared.error();
    const outgoing& sent = *prepared;
    count(sent);

    reply made{.status = 204};
    if (sent.forward != forwarding::nothing) made = co_await send(request, sent);
    complete(request, sent, made);
    co_return made;
}

/// What was counted as received is counted as failed where memory runs out on the way.
net::awaitable<reply> ingestor::send(const http_request& request, const outgoing& sent) {
    try {
        reply made = co_await relay_.send(request, sent);
        co_return made;
    } catch (const std::bad_alloc&) {
    }
    co_return out_of_memory();
}

/// The synchronous part: everything between the body and what is sent. Nothing is decided about a body that is no
/// request, and no samples are counted of one that is rejected. The work goes back at the end of it, so that nothing
/// that waits for the upstream holds any.
/// @return what is to be sent, or the answer that rejects the request.
result<outgoing, reply> ingestor::prepare(http_request& request, const media& kind) try {
    const std::string_view tenant = request.tenant;
    if (tenant.size() > tenant_bytes_max)
        return rejection(reject_reason::too_large, 400,
                         fmt::format("tenant name of more than {} bytes: {}", tenant_bytes_max, tenant.size()));
    if (!relay_.take_room(request)) return overloaded(request.memory.use());
    const work_pool::lease work = pool_.take(request.memory);
    const auto decoded = decode(request, kind, *work);
    if (!decoded) return decoded.error();
    const auto decided = decide(*decoded, kind.version, tenant, request.memory, *work);
    if (!decided) return decided.error();

    const decided_request whole{
        .from = request, .kind = kind, .tenant = tenant, .decoded = *decoded, .decided = *decided};
    auto made = make_outgoing(whole, *work, shared_.limiter, shared_.settings.upstream);
    if (!made) return overloaded(request.memory.use());
    const refusing_request told{
        .decided = *decided, .tenant = tenant, .planning = work->planning, .limiter = shared_.limiter};
    log_refusals(told, shared_.logs);
    count_refusals(told, shared_.metrics);
    return std::move(*made);
} catch (const std::bad_alloc&) {
    return out_of_memory();
}

result<bytes_view, reply> ingestor::decode(const http_request& request, const media& kind, request_work& work) {
    const std::uint64_t decoded_max = shared_.settings.server.decoded_bytes_max;
    const auto size = body_codec::decoded_size(kind.coding, request.body, decoded_max);
    if (!size) return undecodable(size.error(), decoded_max);
    if (!work.memory->grow(*size)) return overloaded(request.memory.use());
    const auto decoded = work.codec.decode(kind.coding, request.body, decoded_max, work.decoding);
    if (!decoded) return undecodable(decoded.error(), decoded_max);
    shared_.metrics.decoded_bytes.add(decoded->size());
    return *decoded;
}

result<plan, reply> ingestor::decide(bytes_view decoded, protocol version, std::string_view tenant,
                                     const inflight_lease& body, request_work& work) {
    const wire_error wrong = work.planning.read(decoded, tenant, version);
    if (wrong.code != wire_errc::none) return malformed(wrong);
    if (!work.memory->grow(work.planning.bytes())) return overloaded(body.use());
    const auto decided = work.planning.decide(shared_.limiter, wall_clock_now(), tenant);
    if (!decided) return malformed(decided.error());
    return *decided;
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

/// What has become of the samples that were accepted, and what the sender is told of it.
void ingestor::complete(const http_request& request, const outgoing& sent, reply& answer) {
    const answer_rules rules{.reject_status = shared_.settings.reject_status,
                             .discards = shared_.settings.upstream.discard};
    const std::uint64_t stored = stored_samples(sent, rules, answer);
    const std::uint64_t accepted = sent.decided.accepted().samples;
    assert(stored <= accepted);
    shared_.metrics.samples_stored.add(stored);
    shared_.metrics.samples_failed.add(accepted - stored);
    tell_lost(tell_sender(sent, rules, answer), accepted - stored, request);
}

/// Successes of the store that are none: nobody else says so.
/// @param samples that it has not confirmed.
void ingestor::tell_lost(confirmation told, std::uint64_t samples, const http_request& request) {
    const config& settings = shared_.settings;
    if (told == confirmation::missing) {
        shared_.metrics.unconfirmed_requests.add();
        if (const auto news = shared_.logs.unconfirmed.count(samples)) tell_unconfirmed(*news, settings.upstream);
    } else if (told == confirmation::partial) {
        shared_.metrics.partly_written_requests.add();
        const std::string_view tenant = request.tenant;
        if (const auto news = shared_.logs.partly_written.count(samples))
            tell_partly_written(*news, request.sender, tenant, settings.upstream);
    }
}

}  // namespace seriesgate
