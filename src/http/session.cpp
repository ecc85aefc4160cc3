#include "http/session.hpp"

#include <boost/beast/http/span_body.hpp>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/queue_delay.hpp"
#include "http/request_head.hpp"
#include "http/request_reading.hpp"
#include "net/event_loop.hpp"
#include "net/http_messages.hpp"

namespace seriesgate {
namespace {

/// Overflow connections may ask for health, but not write.
reply too_many_connections(served_connection& peer) {
    peer.thread.shared.metrics.connections_turned_away[*peer.lease.exceeded_bound()].add();
    const bool of_peer = peer.lease.exceeded_bound() == connection_bound::per_peer;
    reply made = with_retry_after(
        text_reply(503, of_peer ? "over server.maxConnectionsPerPeer: all are being worked on, try again"
                                : "over server.maxConnections: all are being worked on, try again"));
    made.close = true;
    return made;
}

/// Whether the sender has closed while its request waited. It sends the data again.
bool is_abandoned(const served_connection& peer, const incoming_request& current) {
    return current.is_ingestion() && peer.thread.delay.is_late(queue_delay::clock::now()) &&
           peer.stream.peer_has_ended();
}

/// Reads one request and answers it. Status 0: the sender is gone.
net::awaitable<reply> answer_one(served_connection& peer, incoming_request& current) {
    if (is_to_be_passed_on(peer)) co_return too_many_connections(peer);
    auto rejected = co_await receive(peer, current);
    if (rejected) co_return std::move(*rejected);
    if (is_abandoned(peer, current)) {
        peer.thread.shared.metrics.requests_abandoned.add();
        co_return gone();
    }
    if (!peer.lease.enter(connection_stage::working)) co_return gone();
    assert(current.to != nullptr);
    peer.thread.delay.note_request(queue_delay::clock::now());
    if (!current.is_ingestion()) {  // they count no more as inflight memory, so their bodies, which nobody reads, go
        std::string{}.swap(current.parser.get().body());
        current.memory.release();
    }
    http_request request{.headers = current.header,
                         .query = query_of(current.header.target()),
                         .is_head = current.is_head(),
                         .body = std::move(current.parser.get().body()),
                         .memory = current.memory,
                         .sender = sender_of(current, peer),
                         .user = current.who.user,
                         .tenant = tenant_for(current, peer.thread.shared.tenant_header),
                         .tenant_is_bound = !current.who.bound_tenant.empty(),
                         .authorization_is_ours = current.who.authorization_is_ours};
    co_return co_await current.to->answer(request);
}

/// As answer_one(); on std::bad_alloc only this request fails.
net::awaitable<reply> answer_or_out_of_memory(served_connection& peer, incoming_request& current) {
    try {
        co_return co_await answer_one(peer, current);
    } catch (const std::bad_alloc&) {  // the stack unwinding has freed most memory, and the answer is small
    }
    std::string{}.swap(current.parser.get().body());
    reply made = out_of_memory();
    made.close = !current.parser.is_done();
    co_return made;
}

/// @return whether the connection can carry another request.
net::awaitable<bool> send(served_connection& peer, const incoming_request& current, reply answer) {
    http::response<http::span_body<const char>> message;
    static_cast<http::fields&>(message) = std::move(answer.headers);
    if (peer.thread.shared.access.asks()) add_answer_headers(peer.thread.shared.access, message);
    message.version(current.header.version() == 10 ? 10 : 11);
    message.result(answer.status);
    message.keep_alive(!answer.close && !peer.ends() && (current.parser.is_done() || current.skips_body) &&
                       current.keep_alive);
    const bool has_body = answer.status != 204 && answer.status != 304;
    if (has_body && !answer.length_unknown) message.content_length(answer.text().size());
    if (has_body && !current.is_head()) message.body() = {answer.text().data(), answer.text().size()};

    peer.allow(peer.thread.shared.settings.write_timeout);
    const error_code error = co_await write_message(peer.stream, message);
    peer.note_end(error, connection_wait::reading);
    co_return !error && message.keep_alive();
}

void count_answer(http_metrics& metrics, const reply& answer) {
    metrics.requests[answer.status].add();
    if (answer.rejected && answer.status / 100 == 4) metrics.rejected_4xx.add();
}

void log_rejection(const served_connection& peer, const incoming_request& current, const reply& answer) {
    if (!answer.rejected) return;
    http_shared& shared = peer.thread.shared;
    shared.metrics.requests_rejected[*answer.rejected].add();
    if (is_logged_by_ingestion(*answer.rejected)) return;
    const auto requests = shared.rejections.count(*answer.rejected, 1);
    if (!requests) return;
    log::write(log::level::warn, "requests rejected",
               describe_rejection(answer, *requests, sender_of(current, peer), current.who.user,
                                  tenant_for(current, shared.tenant_header)));
}

constexpr std::size_t logged_path_bytes_max = 200;

void log_answer(const served_connection& peer, const incoming_request& current, unsigned status) {
    if (!log::is_written(log::level::debug)) return;
    const std::chrono::duration<double> took = monotonic_clock::now() - current.began;
    log::debug("request answered", {{"sender", sender_of(current, peer)},
                                    {"user", current.who.user},
                                    {"tenant", tenant_for(current, peer.thread.shared.tenant_header)},
                                    {"method", std::string_view{current.header.method_string()}},
                                    {"path", path_of(current.header.target()).substr(0, logged_path_bytes_max)},
                                    {"status", status},
                                    {"seconds", took.count()}});
}

enum class after : std::uint8_t { next_request, linger, close };

/// Reads and answers one request. Frees its memory afterwards.
net::awaitable<after> serve_one(served_connection& peer) {
    http_metrics& metrics = peer.thread.shared.metrics;
    const gauge_hold inflight{metrics.inflight_requests};
    incoming_request current{peer.thread.shared.inflight};
    reply answer = co_await answer_or_out_of_memory(peer, current);
    if (answer.status == 0) co_return after::close;
    const bool unread = answer.close || current.skips_body;
    if (current.is_ingestion()) count_answer(metrics, answer);
    log_rejection(peer, current, answer);
    // Before the answer: the sender's next request must not meet its own memory.
    std::string{}.swap(current.parser.get().body());
    current.memory.release();
    const unsigned status = answer.status;
    bool again = co_await send(peer, current, std::move(answer));
    log_answer(peer, current, status);
    if (current.is_ingestion()) metrics.request_duration.observe(monotonic_clock::now() - current.began);
    if (again && current.skips_body) again = co_await skip_rest(peer, current);
    if (again) co_return after::next_request;
    co_return unread || peer.buffer.size() != 0 || !peer.stream.is_quiet() ? after::linger : after::close;
}

}  // namespace

net::awaitable<void> serve(sender_connection from, service& offered) {
    served_connection peer{std::move(from), offered};
    for (;;) {
        const bool came = co_await wait_for_request(peer);
        if (!came) co_return;
        if (is_to_be_passed_on(peer) && !peer.lease.exceeded_bound()) co_return pass_on(peer);
        const after next = co_await serve_one(peer);
        if (next == after::linger) co_await linger(peer);
        if (next != after::next_request) co_return;
    }
}

void serve_here(sender_connection from, service& offered) {
    spawn(offered.thread.io.get_executor(), serve(std::move(from), offered), connection_failed);
}

std::optional<sender_connection> moved_to(net::io_context& to, sender_connection from) {
    detached_socket detached{from.socket};
    connection_lease lease = std::move(from.lease);  // goes before the socket closes
    auto socket = detached.attach(to);
    if (socket)
        return sender_connection{std::move(*socket), std::move(lease), std::move(from.read_ahead), std::move(from.tls)};
    lease = {};
    log::error(connection_failed, {{"err", socket.error().message()}});
    return std::nullopt;
}

void serve_there(sender_connection from, service& offered) {
    auto moved = moved_to(offered.thread.io, std::move(from));
    if (moved) serve_here(std::move(*moved), offered);
}

}  // namespace seriesgate
