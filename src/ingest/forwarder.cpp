#include "ingest/forwarder.hpp"

#include <cassert>
#include <chrono>
#include <utility>

#include "base/log.hpp"
#include "http/query_string.hpp"
#include "ingest/sender_texts.hpp"
#include "net/event_loop.hpp"
#include "upstream/request.hpp"

namespace seriesgate {
namespace {

/// Older vmagents ask this way whether the store understands zstd; "1" means yes.
/// Source: VictoriaMetrics v1.115 and before, lib/protoparser/common/vmproto_handshake.go.
constexpr std::string_view zstd_question = "get_vm_proto_version=1";

constexpr std::size_t shown_argument_bytes_max = 100;

}  // namespace

bool asks_for_zstd(const http_request& request) {
    return request.body.empty() && has_argument(request.query, "get_vm_proto_version", "1");
}

forwarder::forwarder(net::io_context& io, ingest_shared& shared) : shared_(shared), settings_(shared.settings) {
    if (settings_.upstream.discard) return;
    store_.emplace(io, shared.stores.first);
    replicas_.emplace(io, shared.stores, settings_.tenant_header);
}

void forwarder::maintain() {
    if (!store_) return;
    store_->maintain();
    replicas_->maintain();
}

bool forwarder::ready() const noexcept {
    return !store_ || (store_->started() && replicas_->ready());
}

bool forwarder::take_room(const http_request& of) const {
    const std::size_t copies = store_ ? replicas_->waited_for() : 0;
    return copies == 0 || of.memory.grow(copies * bytes_held(of.headers));
}

net::awaitable<reply> forwarder::send(const http_request& from, const outgoing& sent) {
    assert(sent.body && !sent.body->empty());
    if (!store_) {
        shared_.metrics.requests_discarded.add();
        reply taken{.status = 204};
        co_return taken;
    }
    const std::string query = query_of(from);
    upstream_request message = request_of(from, query);
    message.body = *sent.body;
    message.content_type = sent.content_type;
    message.content_encoding = sent.content_encoding;
    message.body_changed = is_rewritten(sent.forward);
    message.translated = sent.forward == body_action::translated;
    message.body_owner = sent.body;
    if (replicas_->is_empty()) co_return co_await post(from, message);
    const auto asked = replicas_->begin(message, sent);
    reply first = co_await post(from, message);
    std::vector<reply> others = co_await replicas_->wait(asked);
    co_return agreed_answer(std::move(first), std::move(others));
}

/// Says no when there are replicas, since every one of them would have to understand zstd.
net::awaitable<reply> forwarder::ask_for_zstd(const http_request& from) {
    if (!store_) {
        reply yes{.status = 200, .body = "1"};
        co_return yes;
    }
    if (!replicas_->is_empty()) {
        reply no{.status = 204};
        co_return no;
    }
    const upstream_request question = request_of(from, zstd_question);
    co_return co_await post(from, question);
}

/// A request without a body.
upstream_request forwarder::request_of(const http_request& from, std::string_view query) const {
    return {.headers = from.headers,
            .tenant_header = settings_.tenant_header,
            .tenant = from.tenant_is_bound ? from.tenant : std::string_view{},
            .path_tenant = from.tenant,
            .keeps_authorization = !from.authorization_is_ours,
            .query = query,
            .body = {}};
}

net::awaitable<reply> forwarder::post(const http_request& from, const upstream_request& message) {
    auto answer = co_await store_->post(message);
    if (!answer) co_return failed(from, answer.error());
    reply relayed = answered(std::move(*answer));
    const bool is_data = !message.body.empty();
    if (is_data) count_answer(from, relayed);  // a rejected question loses no samples
    co_return relayed;
}

reply forwarder::failed(const http_request& from, const upstream_error& error) {
    shared_.stores.first.metrics.upstream_errors[error.reason].add();
    const std::string line = unanswered_line(error, settings_.upstream);
    reply made = unanswered_reply(error, line);
    if (const auto requests = shared_.stores.first.health.failed(error.reason))
        log::warn("the upstream has not answered", {{"requests", *requests},
                                                    {"reason", name_of(error.reason)},
                                                    {"upstream", error.backend},
                                                    {"sender", from.sender},
                                                    {"tenant", shown_tenant(from.tenant)},
                                                    {"status", made.status},
                                                    {"err", line}});
    return made;
}

reply forwarder::answered(upstream_answer answer) {
    if (const auto ended = shared_.stores.first.health.answered())
        log::info("the upstream answers again",
                  {{"upstream", shared_.stores.first.name},
                   {"outage_seconds", std::chrono::duration<double>(ended->lasted).count()},
                   {"requests", ended->requests},
                   {"status", answer.status}});
    return passed_on(std::move(answer), settings_.tenant_header, shared_.stores.first.access);
}

void forwarder::count_answer(const http_request& from, const reply& answer) {
    shared_.stores.first.metrics.upstream_responses[answer.status].add();
    const auto requests = shared_.logs.store_errors.count(answer.status, 1);
    if (!requests) return;
    const std::string_view tenant = from.tenant;
    log::write(log::level::warn, "the store rejected requests",
               describe_store_error(answer.status, said_by_store(answer, shared_.stores.first.access), *requests,
                                    from.sender, tenant));
}

/// Keeps only the query arguments that upstream.forwardQuery allows. The log names a dropped argument without its
/// value, which may be a secret.
std::string forwarder::query_of(const http_request& from) {
    forwarded_query query = pick_arguments(from.query, settings_.upstream.forward_query);
    if (query.left_out == 0) return std::move(query.text);
    shared_.metrics.query_arguments_dropped.add(query.left_out);
    if (const auto arguments = shared_.logs.query.count(query.left_out))
        log::warn("a sender's query argument was left out, see upstream.forwardQuery",
                  {{"arguments", *arguments},
                   {"argument", query.left_out_example.substr(0, shown_argument_bytes_max)},
                   {"sender", from.sender},
                   {"tenant", shown_tenant(from.tenant)}});
    return std::move(query.text);
}

}  // namespace seriesgate
