#include "ingest/relay.hpp"

#include <cassert>
#include <chrono>
#include <utility>

#include "http/query.hpp"
#include "log/log.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

/// Older vmagents ask this way whether zstd is understood; "1" means yes.
/// Source: VictoriaMetrics v1.115 and before, lib/protoparser/common/vmproto_handshake.go.
constexpr std::string_view zstd_question = "get_vm_proto_version=1";

constexpr std::size_t shown_query_bytes_max = 256;

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

}  // namespace

bool asks_for_zstd(const http_request& request) {
    return request.body.empty() && has_argument(request.query, "get_vm_proto_version", "1");
}

relay::relay(net::io_context& io, const config& settings, ingest_metrics& metrics, upstream_metrics& upstream,
             ingest_logs& logs)
    : settings_(settings),
      metrics_(metrics),
      upstream_metrics_(upstream),
      logs_(logs),
      upstream_(io, settings.upstream, upstream) {}

net::awaitable<reply> relay::send(const http_request& from, const outgoing& sent) {
    assert(sent.body && !sent.body->empty());
    if (settings_.upstream.discard) {
        metrics_.requests_discarded.add();
        reply taken{.status = 204};
        co_return taken;
    }
    const std::string query = query_of(from);
    const upstream_request message{.headers = from.headers,
                                   .tenant_header = settings_.tenant_header,
                                   .query = query,
                                   .body = *sent.body,
                                   .body_changed = is_rewritten(sent.forward),
                                   .translated = sent.forward == forwarding::translated,
                                   .body_owner = sent.body};
    co_return co_await post(message);
}

net::awaitable<reply> relay::ask_for_zstd(const http_request& from) {
    if (settings_.upstream.discard) {
        reply yes{.status = 200, .body = "1"};
        co_return yes;
    }
    const upstream_request question{
        .headers = from.headers, .tenant_header = settings_.tenant_header, .query = zstd_question, .body = {}};
    co_return co_await post(question);
}

net::awaitable<reply> relay::post(const upstream_request& message) {
    const auto begin = std::chrono::steady_clock::now();
    auto answer = co_await upstream_.post(message);
    upstream_metrics_.upstream_request_duration.observe(std::chrono::steady_clock::now() - begin);
    if (!answer) co_return failed(answer.error());
    reply relayed{.status = answer->status, .headers = {}, .body = std::move(answer->body)};
    copy_end_to_end(answer->headers, relayed.headers, settings_.tenant_header);
    co_return relayed;
}

/// The sender keeps the data and comes again.
reply relay::failed(upstream_error_reason reason) {
    upstream_metrics_.upstream_errors[reason].add();
    const std::string line = describe(reason, settings_.upstream);
    if (const auto requests = logs_.upstream_failures.count(1))
        log::warn("the upstream has not answered", {{"requests", *requests}, {"err", line}});
    return text_reply(reason == upstream_error_reason::timeout ? 504 : 502, line);
}

/// What the sender asks in its query is not the store's to hear, but for what is configured.
std::string relay::query_of(const http_request& from) {
    forwarded_query query = pick_arguments(from.query, settings_.upstream.forward_query);
    metrics_.query_arguments_dropped.add(query.left_out);
    if (query.left_out != 0 && !logs_.query_told.test_and_set())
        log::warn(
            "a sender's query argument was left out: put it into upstream.url, or name it in upstream.forwardQuery; "
            "this "
            "is said once",
            {{"query", from.query.substr(0, shown_query_bytes_max)}});
    return std::move(query.text);
}

}  // namespace seriesgate
