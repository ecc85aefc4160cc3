#include "http/write_handler.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <set>
#include <utility>

#include "http/budget_text.hpp"
#include "http/media.hpp"
#include "http/written_counts.hpp"
#include "series/text.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

/// Keeps buffers of usual requests (Prometheus 1 MB, vmagent 8 MiB decoded), gives those of giants back.
constexpr std::size_t kept_buffer_bytes = 16u << 20;

/// Of a series in an answer. Prometheus reads 1024 bytes of one, and 2.42 logs its first line.
constexpr std::size_t example_bytes_max = 256;

/// What is to be sent upstream for one request.
struct outgoing {
    plan decided;
    bytes_view body;  ///< the sender's own, or `recompressed`
    std::string recompressed;
    std::string rejection;  ///< what to tell the sender of refused series; empty if there is nothing to tell
};

/// Older vmagents ask this way whether zstd is understood; "1" means yes.
/// Source: VictoriaMetrics v1.115 and before, lib/protoparser/common/vmproto_handshake.go.
bool is_version_handshake(const write_request& request) {
    constexpr std::string_view question = "get_vm_proto_version=1";
    return request.body.empty() && request.query.find(question) != std::string_view::npos;
}

reply malformed(const wire_error& error, worker& self) {
    const bool too_large = error.code == wire_errc::declared_size_over_limit ||
                           error.code == wire_errc::series_over_limit || error.code == wire_errc::labels_over_limit ||
                           error.code == wire_errc::label_bytes_over_limit;
    return rejection(self.shared.metrics, too_large ? reject_reason::too_large : reject_reason::malformed, 400,
                     to_string(error));
}

void count(const plan& decided, gate_metrics& metrics) {
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

std::string describe_refused(const plan& decided) {
    return fmt::format("refused {} new series ({} sample{})", decided.refused_series, decided.refused.samples,
                       decided.refused.samples == 1 ? "" : "s");
}

/// Lines for the sender: a series and the limit that is spent, one for each limit.
std::string describe_rejected(const plan& decided, std::string_view tenant, worker& self) {
    std::string text;
    std::set<std::string> told;
    for (const refusal& rejected : decided.rejected) {
        const auto labels = self.plan_request.labels(rejected.entry);
        for (const spent_budget& spent : self.shared.limits.explain(rejected.series, labels, tenant)) {
            const std::string budget = to_text(spent);
            if (!told.insert(budget).second) continue;
            text.append(text.empty() ? "" : "\n").append(budget).append(", for example ");
            text.append(to_text(self.plan_request.labels(rejected.entry), example_bytes_max));
        }
    }
    if (text.empty()) text = "there is room again";  // a reload or a new window came in between
    return describe_refused(decided) + ": " + text;
}

/// The tenant that a request belongs to; the empty one without the header.
std::string_view tenant_of(const write_request& request, const config& settings) {
    const auto found = request.headers.find(settings.tenant_header);
    return found == request.headers.end() ? std::string_view{} : std::string_view{found->value()};
}

/// The synchronous part: everything between the body and the plan. Nothing is counted for a body that is no request.
result<outgoing, wire_error> prepare(const write_request& request, const media& kind, bytes_view decoded,
                                     worker& self) {
    const std::string_view tenant = tenant_of(request, self.shared.settings);
    auto decided = self.plan_request(decoded, self.shared.limits, wall_clock_now(), tenant, kind.version);
    if (!decided) return decided.error();
    outgoing made{.decided = *decided, .body = request.body, .recompressed = {}, .rejection = {}};
    if (made.decided.forward == forwarding::spliced) {
        splice(decoded, made.decided.removed, self.spliced);
        self.codec.encode(kind.coding, self.spliced, made.recompressed);
    }
    count(made.decided, self.shared.metrics);
    log_refusal(made.decided, tenant, self);
    if (!made.decided.rejected.empty()) made.rejection = describe_rejected(made.decided, tenant, self);
    return made;
}

/// A success becomes an error that names the spent limits; an error of the store goes first.
void tell_rejected(const outgoing& sent, const config& settings, reply& answer) {
    const bool readable = answer.headers.find(http::field::content_encoding) == answer.headers.end();
    if (answer.status >= 400 && sent.decided.refused_series != 0 && readable) {
        if (!answer.body.empty() && answer.body.back() != '\n') answer.body += '\n';
        answer.body += "seriesgate: also " + describe_refused(sent.decided) + "\n";
    }
    if (answer.status >= 300 || sent.rejection.empty()) return;
    for (const auto name : {http::field::content_type, http::field::content_encoding, http::field::etag})
        answer.headers.erase(name);
    const reply error = text_reply(settings.reject_status, sent.rejection);
    answer.status = error.status;
    answer.body = error.body;
    for (const auto& field : error.headers) answer.headers.set(field.name_string(), field.value());
}

/// A sender of remote write 2 takes a success with less written than it sent for a fault to look into, so what was
/// left out on purpose counts as written. A store that does not say what it has written may have stored nothing:
/// counts that we made up would hide that.
/// With an error for them, the counts are the store's own.
void tell_written(const outgoing& sent, bool forwarded, reply& answer, shared_state& shared) {
    if (answer.status < 200 || answer.status > 299) return;
    const plan& decided = sent.decided;
    written_counts written = sent.rejection.empty() ? written_of(decided.refused) : written_counts{};
    if (!forwarded || shared.settings.upstream.discard) {
        entry_counts stored = decided.received;
        stored -= decided.refused;
        written += written_of(stored);
    } else if (const auto stored = read_written(answer.headers)) {
        written += *stored;
    } else {
        shared.metrics.unconfirmed_requests.add();
        if (!shared.unconfirmed_told.test_and_set())
            spdlog::error(
                "the upstream {} took a remote write 2 request without saying what it has written: it may know only "
                "remote write 1 and have stored nothing. Let the senders write version 1 (Prometheus: "
                "protobuf_message: prometheus.WriteRequest)",
                shared.settings.upstream.authority);
        return;
    }
    write_written(written, answer.headers);
}

/// Tells who looks what was left out. Senders ignore the headers: a refusal does not heal by retrying.
void tell_refused(const plan& decided, reply& answer) {
    if (decided.refused_series == 0) return;
    answer.headers.set("X-Seriesgate-Refused-Series", std::to_string(decided.refused_series));
    answer.headers.set("X-Seriesgate-Refused-Samples", std::to_string(decided.refused.samples));
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
    copy_end_to_end(answer->headers, relayed.headers);
    co_return relayed;
}

/// Bodies go to the store as they are compressed, so it is the store's to say whether it reads zstd.
net::awaitable<reply> answer_handshake(const write_request& request, worker& self) {
    if (self.shared.settings.upstream.discard) {
        reply yes{.status = 200, .body = "1"};
        co_return yes;
    }
    const upstream_request question{.headers = request.headers, .query = request.query, .body = {}};
    co_return co_await post(question, self);
}

net::awaitable<reply> forward(const write_request& request, const outgoing& sent, worker& self) {
    gate_metrics& metrics = self.shared.metrics;
    const bool spliced = sent.decided.forward == forwarding::spliced;
    metrics.requests_forwarded[spliced ? forward_kind::spliced : forward_kind::unchanged].add();
    if (self.shared.settings.upstream.discard) {
        metrics.requests_discarded.add();
        co_return reply{.status = 204};
    }
    const upstream_request message{.headers = request.headers,
                                   .query = request.query,
                                   .body = spliced ? bytes_view{sent.recompressed} : sent.body,
                                   .body_changed = spliced};
    co_return co_await post(message, self);
}

}  // namespace

net::awaitable<reply> handle_write(write_request request, worker& self) {
    gate_metrics& metrics = self.shared.metrics;
    const server_config& bounds = self.shared.settings.server;
    metrics.received_bytes.add(request.body.size());

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

    reply answer{.status = 204};
    const bool forwarded = prepared->decided.forward != forwarding::nothing;
    if (forwarded) {
        answer = co_await forward(request, *prepared, self);
    } else {
        metrics.requests_forwarded[forward_kind::none].add();
    }
    if (kind.version == protocol::v2) tell_written(*prepared, forwarded, answer, self.shared);
    tell_refused(prepared->decided, answer);
    tell_rejected(*prepared, self.shared.settings, answer);
    co_return answer;
}

reply rejection(gate_metrics& metrics, reject_reason reason, unsigned status, std::string_view line) {
    metrics.requests_rejected[reason].add();
    return text_reply(status, line);
}

reply overloaded(gate_metrics& metrics) {
    reply made = rejection(metrics, reject_reason::overloaded, 503,
                           "over server.maxInflightBytes: too much is being worked on, try again");
    made.headers.set(http::field::retry_after, "1");
    return made;
}

}  // namespace seriesgate
