#include "http/write_handler.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "http/budget_text.hpp"
#include "http/media.hpp"
#include "http/sender_answer.hpp"
#include "series/text.hpp"
#include "upstream/headers.hpp"
#include "upstream/query.hpp"
#include "upstream/via.hpp"

namespace seriesgate {
namespace {

/// Keeps buffers of usual requests (Prometheus 1 MB, vmagent 8 MiB decoded), gives those of giants back.
constexpr std::size_t kept_buffer_bytes = 16u << 20;

/// Older vmagents ask this way whether zstd is understood; "1" means yes.
/// Source: VictoriaMetrics v1.115 and before, lib/protoparser/common/vmproto_handshake.go.
constexpr std::string_view handshake = "get_vm_proto_version=1";

bool is_version_handshake(const write_request& request) {
    return request.body.empty() && has_argument(request.query, "get_vm_proto_version", "1");
}

reply malformed(const wire_error& error, worker& self) {
    const bool too_large =
        error.code == wire_errc::declared_size_over_limit || error.code == wire_errc::series_over_limit ||
        error.code == wire_errc::labels_over_limit || error.code == wire_errc::label_bytes_over_limit ||
        error.code == wire_errc::symbols_over_limit || error.code == wire_errc::series_label_bytes_over_limit ||
        error.code == wire_errc::request_symbol_bytes_over_limit;
    return rejection(self.shared.metrics, too_large ? reject_reason::too_large : reject_reason::malformed, 400,
                     to_string(error));
}

forward_kind kind_of(const outgoing& made) {
    if (!made.forwarded) return forward_kind::none;
    if (made.translated) return forward_kind::translated;
    return made.changed ? forward_kind::spliced : forward_kind::unchanged;
}

void count(const outgoing& made, gate_metrics& metrics) {
    const plan& decided = made.decided;
    metrics.requests_forwarded[kind_of(made)].add();
    metrics.untranslated_histograms.add(made.untranslated.histograms);
    metrics.samples_received.add(decided.received.samples);
    metrics.samples_accepted.add(decided.received.samples - decided.refused.samples);
    metrics.samples_refused.add(decided.refused.samples);
    metrics.unknown_dropped.add(decided.refused_unknown_entries);
    metrics.histograms_received.add(decided.received.histograms);
    metrics.exemplars_received.add(decided.received.exemplars);
    metrics.metadata_received.add(decided.metadata);
}

void log_refusal(const plan& decided, std::string_view tenant, worker& self) {
    if (!decided.first_refusal) return;
    const auto samples = self.shared.refusals.count(decided.refused.samples);
    if (!samples) return;
    const refusal& first = *decided.first_refusal;
    const auto labels = self.plan_request.labels(first.entry);
    const auto spent = self.shared.limits.explain(first.series, labels, tenant);
    spdlog::warn("refused {} samples of new series since the last such line, for example {}: {}", *samples,
                 to_text(labels), spent.empty() ? "there is room again" : to_text(spent.front()));
}

/// The tenant that a request belongs to; the empty one without the header.
std::string_view tenant_of(const write_request& request, const config& settings) {
    const auto found = request.headers.find(settings.tenant_header);
    return found == request.headers.end() ? std::string_view{} : std::string_view{found->value()};
}

/// Whether what is sent upstream has to be written anew in remote write 1.
bool is_translated(const media& kind, const upstream_config& upstream) {
    return kind.version == protocol::v2 && upstream.protocol == upstream_protocol::v1 && !upstream.discard;
}

/// Fills in what goes upstream, where that is not the sender's own body.
void make_body(const write_request& request, const media& kind, bytes_view decoded, worker& self, outgoing& made) {
    const plan& decided = made.decided;
    made.forwarded = decided.forward != forwarding::nothing;
    made.translated = made.forwarded && is_translated(kind, self.shared.settings.upstream);
    made.changed = made.translated || decided.forward == forwarding::spliced;
    if (made.translated) {
        const translation_loss lost = self.translate(decoded, decided.removed, self.rewritten);
        made.untranslated = {.samples = lost.histograms, .histograms = lost.histograms, .exemplars = 0};
        if (lost.histograms != 0 && self.rewritten.empty()) made.forwarded = false;
        if (made.forwarded) self.codec.encode(kind.coding, self.rewritten, made.body);
    } else if (made.changed) {
        self.codec.encode_spliced(kind.coding, request.body, decoded, decided.removed, self.rewritten, made.body);
    }
    if (self.rewritten.capacity() > kept_buffer_bytes) std::string{}.swap(self.rewritten);
}

/// The synchronous part: everything between the body and what is sent. Nothing is counted for a body that is no
/// request.
result<outgoing, wire_error> prepare(const write_request& request, const media& kind, bytes_view decoded,
                                     worker& self) {
    const std::string_view tenant = tenant_of(request, self.shared.settings);
    auto decided = self.plan_request(decoded, self.shared.limits, wall_clock_now(), tenant, kind.version);
    if (!decided) return decided.error();
    outgoing made;
    made.decided = *decided;
    make_body(request, kind, decoded, self, made);
    count(made, self.shared.metrics);
    log_refusal(made.decided, tenant, self);
    made.rejection = describe_rejected(made.decided, tenant, self);
    return made;
}

std::string describe(upstream_error_reason reason, const upstream_config& upstream) {
    switch (reason) {
        case upstream_error_reason::unreachable:
            return "cannot reach the upstream " + upstream.authority;
        case upstream_error_reason::timeout:
            return "no answer from the upstream " + upstream.authority + " within upstream.timeout";
        default:
            return "the upstream " + upstream.authority + " broke off";
    }
}

/// A 5xx, so that the sender keeps the data until someone has mended the upstream's address.
reply looped(gate_metrics& metrics) {
    return rejection(metrics, reject_reason::loop, 508,
                     "loop: the request has been here before, or has passed too many gates (see its Via header)");
}

/// The sender keeps the data and comes again.
reply gateway_error(upstream_error_reason reason, shared_state& shared) {
    shared.metrics.upstream_errors[reason].add();
    const std::string line = describe(reason, shared.settings.upstream);
    if (const auto requests = shared.upstream_failures.count(1))
        spdlog::warn("{} ({} requests failed since the last such line)", line, *requests);
    return text_reply(reason == upstream_error_reason::timeout ? 504 : 502, line);
}

net::awaitable<reply> post(const upstream_request& message, worker& self) {
    const auto begin = std::chrono::steady_clock::now();
    auto answer = co_await self.upstream.post(message);
    self.shared.metrics.upstream_request_duration.observe(std::chrono::steady_clock::now() - begin);
    if (!answer) co_return gateway_error(answer.error(), self.shared);
    reply relayed{.status = answer->status, .headers = {}, .body = std::move(answer->body)};
    copy_end_to_end(answer->headers, relayed.headers, self.shared.settings.tenant_header);
    co_return relayed;
}

/// Bodies go to the store as they are compressed, so it is the store's to say whether it reads zstd.
net::awaitable<reply> answer_handshake(const write_request& request, worker& self) {
    if (self.shared.settings.upstream.discard) {
        reply yes{.status = 200, .body = "1"};
        co_return yes;
    }
    const upstream_request question{.headers = request.headers,
                                    .tenant_header = self.shared.settings.tenant_header,
                                    .query = handshake,
                                    .body = {}};
    co_return co_await post(question, self);
}

/// What the sender asks in its query is not the store's to hear, but for what is configured.
forwarded_query query_of(const write_request& request, shared_state& shared) {
    forwarded_query query = pick_arguments(request.query, shared.settings.upstream.forward_query);
    shared.metrics.query_arguments_dropped.add(query.left_out);
    if (query.left_out != 0 && !shared.query_told.test_and_set())
        spdlog::warn(
            "a sender's query argument was left out, for example of the query {}: put them into upstream.url, or name "
            "those that are to go on in upstream.forwardQuery. This is said once",
            quoted(request.query.substr(0, 256)));
    return query;
}

net::awaitable<reply> forward(const write_request& request, const outgoing& sent, worker& self) {
    if (self.shared.settings.upstream.discard) {
        self.shared.metrics.requests_discarded.add();
        co_return reply{.status = 204};
    }
    const forwarded_query query = query_of(request, self.shared);
    const upstream_request message{.headers = request.headers,
                                   .tenant_header = self.shared.settings.tenant_header,
                                   .query = query.text,
                                   .body = sent.changed ? bytes_view{sent.body} : request.body,
                                   .body_changed = sent.changed,
                                   .translated = sent.translated};
    co_return co_await post(message, self);
}

}  // namespace

net::awaitable<reply> handle_write(write_request request, worker& self) {
    gate_metrics& metrics = self.shared.metrics;
    const server_config& bounds = self.shared.settings.server;
    metrics.received_bytes.add(request.body.size());

    if (goes_in_circles(request.headers)) co_return looped(self.shared.metrics);
    if (is_version_handshake(request)) co_return co_await answer_handshake(request, self);
    const media kind = media_of(request.headers);
    if (!kind.fault.empty()) co_return rejection(metrics, reject_reason::unsupported_media, 415, kind.fault);

    const auto size = body_codec::decoded_size(kind.coding, request.body, bounds.decoded_bytes_max);
    if (!size) co_return malformed(size.error(), self);
    if (!request.memory.grow(*size)) co_return overloaded(metrics);
    const auto decoded = self.codec.decode(kind.coding, request.body, bounds.decoded_bytes_max, self.decoded);
    if (!decoded) co_return malformed(decoded.error(), self);
    metrics.decoded_bytes.add(decoded->size());

    const auto prepared = prepare(request, kind, *decoded, self);
    self.decoded.shrink(kept_buffer_bytes);  // nothing below looks at the decoded body
    if (!prepared) co_return malformed(prepared.error(), self);
    if (!request.memory.grow(prepared->body.size())) co_return overloaded(metrics);

    reply answer{.status = 204};
    if (prepared->forwarded) answer = co_await forward(request, *prepared, self);
    tell_sender(*prepared, kind.version, self.shared, answer);
    co_return answer;
}

reply rejection(gate_metrics& metrics, reject_reason reason, unsigned status, std::string_view line) {
    metrics.requests_rejected[reason].add();
    reply made = text_reply(status, line);
    made.rejected = reason;
    return made;
}

reply overloaded(gate_metrics& metrics) {
    reply made = rejection(metrics, reject_reason::overloaded, 503,
                           "over server.maxInflightBytes: too much is being worked on, try again");
    made.headers.set(http::field::retry_after, "1");
    return made;
}

}  // namespace seriesgate
