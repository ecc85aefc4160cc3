#include "ingest/write_handler.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <new>
#include <utility>

#include "core/kept_memory.hpp"
#include "http/query.hpp"
#include "ingest/media.hpp"
#include "ingest/sender_answer.hpp"
#include "limit/budget_text.hpp"
#include "series/text.hpp"
#include "upstream/headers.hpp"
#include "upstream/via.hpp"

namespace seriesgate {
namespace {

/// Keeps buffers of usual requests (Prometheus 1 MB, vmagent 8 MiB decoded), gives those of giants back.
constexpr std::size_t kept_buffer_bytes = 16u << 20;

/// No tenant has a longer name; that of each is kept in memory.
constexpr std::size_t tenant_bytes_max = group_key_bytes_max;

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
        error.code == wire_errc::request_symbol_bytes_over_limit || error.code == wire_errc::rule_work_over_limit;
    return rejection(self.shared.metrics, too_large ? reject_reason::too_large : reject_reason::malformed, 400,
                     to_string(error));
}

forward_kind kind_of(const outgoing& made) {
    if (!made.forwarded) return forward_kind::none;
    if (made.translated) return forward_kind::translated;
    return made.changed ? forward_kind::spliced : forward_kind::unchanged;
}

void count(const outgoing& made, gate_metrics& metrics) {
    const plan_counts& decided = made.decided;
    metrics.requests_forwarded[kind_of(made)].add();
    metrics.untranslated_histograms.add(made.lost.histograms);
    metrics.untranslated_series.add(made.lost.invalid.series);
    metrics.samples_received.add(decided.received.samples);
    metrics.samples_accepted.add(decided.accepted().samples);
    metrics.samples_refused.add(decided.refused.samples);
    metrics.unknown_dropped.add(decided.refused_unknown_entries);
    metrics.histograms_received.add(decided.received.histograms);
    metrics.exemplars_received.add(decided.received.exemplars);
    metrics.metadata_received.add(decided.metadata + decided.empty_entries);
}

/// What has become of the samples that were accepted.
void count_outcome(const outgoing& sent, protocol version, const reply& answer, shared_state& shared) {
    const std::uint64_t stored = stored_samples(sent, version, shared, answer);
    shared.metrics.samples_stored.add(stored);
    shared.metrics.samples_failed.add(sent.decided.accepted().samples - stored);
}

void log_refusal(const plan& decided, std::string_view tenant, worker& self) {
    if (!decided.first_refusal) return;
    const auto samples = self.shared.refusals.count(decided.refused.samples);
    if (!samples) return;
    const refusal& first = *decided.first_refusal;
    const auto labels = self.plan_request.labels(first.entry);
    const auto spent = self.shared.limiter.explain(first.series, labels, tenant);
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

std::string describe_untranslated(const translation_loss& lost) {
    std::string text;
    if (lost.histograms != 0)
        text = fmt::format("left out {} native histogram{} with custom buckets: remote write 1 has none",
                           lost.histograms, lost.histograms == 1 ? "" : "s");
    if (lost.invalid.series != 0)
        text += fmt::format("{}left out {} series that a store of remote write 1 would drop, the first for {}",
                            text.empty() ? "" : "\n", lost.invalid.series, lost.invalid.first);
    return text;
}

void translate(bytes_view decoded, const plan& decided, worker& self, outgoing& made) {
    made.lost = self.translate(decoded, decided.removed, self.rewritten);
    const translation_loss& lost = made.lost;
    made.untranslated = {.samples = lost.histograms + lost.invalid.samples + lost.invalid.histograms,
                         .histograms = lost.histograms + lost.invalid.histograms,
                         .exemplars = lost.invalid.exemplars};
    made.left_out = describe_untranslated(lost);
    made.forwarded = !lost.any() || !self.rewritten.empty();
}

/// Fills in what goes upstream, where that is not the sender's own body.
/// @return false if there is no room for it, and as much again for the compressor.
bool make_body(const write_request& request, const media& kind, bytes_view decoded, const plan& decided, worker& self,
               work_lease& work, outgoing& made) {
    made.forwarded = decided.forward != forwarding::nothing;
    made.translated = made.forwarded && is_translated(kind, self.shared.settings.upstream);
    made.changed = made.translated || decided.forward == forwarding::spliced;
    bool fits = true;
    if (made.translated) {
        translate(decoded, decided, self, made);  // how large it is with its symbols filled in is known afterwards
        fits = work.grow(2 * self.rewritten.size());
        if (fits && made.forwarded) self.codec.encode(kind.coding, self.rewritten, made.body);
    } else if (made.changed) {
        std::uint64_t kept = decoded.size();
        for (const byte_range& range : decided.removed) kept -= range.size;
        fits = work.grow(2 * kept);
        if (fits)
            self.codec.encode_spliced(kind.coding, request.body, decoded, decided.removed, self.rewritten, made.body);
    }
    give_back(self.rewritten, kept_buffer_bytes);
    return fits;
}

/// What is being worked with goes back when that is done: nothing that waits for the upstream keeps a worker's buffers.
class work_buffers {
    worker& self_;

  public:
    explicit work_buffers(worker& self) : self_(self) {}
    work_buffers(const work_buffers&) = delete;
    work_buffers& operator=(const work_buffers&) = delete;
    ~work_buffers() {
        self_.decoded.shrink(kept_buffer_bytes);
        self_.plan_request.shrink();
    }
};

/// The synchronous part: everything between the body and what is sent. Nothing is decided about a body that is no
/// request, and no samples are counted of one that is turned away.
/// @return what is to be sent, or the answer that turns the request away.
result<outgoing, reply> prepare(const write_request& request, const media& kind, worker& self) try {
    gate_metrics& metrics = self.shared.metrics;
    const std::uint64_t decoded_max = self.shared.settings.server.decoded_bytes_max;
    const std::string_view tenant = tenant_of(request, self.shared.settings);
    if (tenant.size() > tenant_bytes_max)
        return rejection(metrics, reject_reason::too_large, 400,
                         fmt::format("tenant name of more than {} bytes", tenant_bytes_max));
    const auto size = body_codec::decoded_size(kind.coding, request.body, decoded_max);
    if (!size) return malformed(size.error(), self);
    const work_buffers buffers{self};
    work_lease work{request.memory};
    if (!work.grow(*size)) return overloaded(metrics);
    const auto decoded = self.codec.decode(kind.coding, request.body, decoded_max, self.decoded);
    if (!decoded) return malformed(decoded.error(), self);
    metrics.decoded_bytes.add(decoded->size());

    const wire_error wrong = self.plan_request.read(*decoded, tenant, kind.version);
    if (wrong.code != wire_errc::none) return malformed(wrong, self);
    if (!work.grow(self.plan_request.bytes())) return overloaded(metrics);
    const auto decided = self.plan_request.decide(self.shared.limiter, wall_clock_now(), tenant);
    if (!decided) return malformed(decided.error(), self);

    outgoing made;
    made.decided = *decided;
    if (!make_body(request, kind, *decoded, *decided, self, work, made)) return overloaded(metrics);
    if (!request.memory.grow(made.body.capacity())) return overloaded(metrics);
    log_refusal(*decided, tenant, self);
    made.rejection = describe_rejected(*decided, tenant, self);
    return made;
} catch (const std::bad_alloc&) {
    return overloaded(self.shared.metrics);
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
    shared.metrics.upstream.upstream_errors[reason].add();
    const std::string line = describe(reason, shared.settings.upstream);
    if (const auto requests = shared.upstream_failures.count(1))
        spdlog::warn("{} ({} requests failed since the last such line)", line, *requests);
    return text_reply(reason == upstream_error_reason::timeout ? 504 : 502, line);
}

net::awaitable<reply> post(const upstream_request& message, worker& self) {
    const auto begin = std::chrono::steady_clock::now();
    auto answer = co_await self.upstream.post(message);
    self.shared.metrics.upstream.upstream_request_duration.observe(std::chrono::steady_clock::now() - begin);
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
    metrics.received_bytes.add(request.body.size());

    if (goes_in_circles(request.headers)) co_return looped(self.shared.metrics);
    if (is_version_handshake(request)) co_return co_await answer_handshake(request, self);
    const media kind = media_of(request.headers);
    if (!kind.fault.empty()) co_return rejection(metrics, reject_reason::unsupported_media, 415, kind.fault);

    const auto prepared = prepare(request, kind, self);
    if (!prepared) co_return prepared.error();
    count(*prepared, metrics);

    reply answer{.status = 204};
    if (prepared->forwarded) answer = co_await forward(request, *prepared, self);
    count_outcome(*prepared, kind.version, answer, self.shared);
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
