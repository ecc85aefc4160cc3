#include "http/session.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/span_body.hpp>
#include <cassert>
#include <chrono>
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/sender_address.hpp"
#include "http/request_head.hpp"
#include "http/request_reading.hpp"
#include "net/event_loop.hpp"
#include "net/http_messages.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {
namespace {

/// Overflow connections may ask for health, but not write.
reply too_many_connections(served_connection& peer) {
    peer.self.shared.metrics.connections_turned_away[*peer.lease.over()].add();
    const bool of_peer = peer.lease.over() == connection_bound::per_peer;
    reply made =
        come_again(text_reply(503, of_peer ? "over server.maxConnectionsPerPeer: all are being worked on, try again"
                                           : "over server.maxConnections: all are being worked on, try again"));
    made.close = true;
    return made;
}

/// Whether the sender has closed while its request waited. It sends the data again.
bool is_abandoned(const served_connection& peer, const incoming_request& current) {
    return current.is_ingestion() && peer.self.delay.is_late(queue_delay::clock::now()) && peer.stream.peer_has_ended();
}

/// Reads one request and answers it. Status 0: the sender is gone.
net::awaitable<reply> answer_one(served_connection& peer, incoming_request& current) {
    if (is_to_be_passed_on(peer)) co_return too_many_connections(peer);
    auto rejected = co_await receive(peer, current);
    if (rejected) co_return std::move(*rejected);
    if (is_abandoned(peer, current)) {
        peer.self.shared.metrics.requests_abandoned.add();
        co_return gone();
    }
    if (!peer.lease.enter(connection_stage::working)) co_return gone();
    assert(current.to != nullptr);
    peer.self.delay.note_request(queue_delay::clock::now());
    if (!current.is_ingestion()) current.memory.release();  // admin requests do not count as inflight memory
    http_request request{.headers = current.header,
                         .query = query_of(current.header.target()),
                         .is_head = current.is_head(),
                         .body = std::move(current.parser.get().body()),
                         .memory = current.memory,
                         .sender = sender_of(current, peer),
                         .user = current.who.user,
                         .tenant = tenant_for(current, peer.self.shared.tenant_header),
                         .tenant_is_bound = !current.who.bound_tenant.empty(),
                         .authorization_is_ours = current.who.authorization_is_ours};
    co_return co_await current.to->answer(request);
}

/// As answer_one(); on std::bad_alloc only this request fails.
net::awaitable<reply> answer_with_what_there_is(served_connection& peer, incoming_request& current) {
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
    if (peer.self.shared.access.asks()) add_answer_headers(peer.self.shared.access, message);
    message.version(current.header.version() == 10 ? 10 : 11);
    message.result(answer.status);
    message.keep_alive(!answer.close && !peer.ends() && (current.parser.is_done() || current.skips_body) &&
                       current.keep_alive);
    const bool has_body = answer.status != 204 && answer.status != 304;
    if (has_body && !answer.length_unknown) message.content_length(answer.text().size());
    if (has_body && !current.is_head()) message.body() = {answer.text().data(), answer.text().size()};

    peer.allow(peer.self.shared.settings.write_timeout);
    const error_code error = co_await write_message(peer.stream, message);
    peer.note_end(error, connection_wait::reading);
    co_return !error && message.keep_alive();
}

void count_answer(http_metrics& metrics, const reply& answer) {
    metrics.requests[answer.status].add();
    if (answer.rejected && answer.status / 100 == 4) metrics.rejected_4xx.add();
}

void tell_rejection(const served_connection& peer, const incoming_request& current, const reply& answer) {
    if (!answer.rejected) return;
    http_shared& shared = peer.self.shared;
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
                                    {"tenant", tenant_for(current, peer.self.shared.tenant_header)},
                                    {"method", std::string_view{current.header.method_string()}},
                                    {"path", path_of(current.header.target()).substr(0, logged_path_bytes_max)},
                                    {"status", status},
                                    {"seconds", took.count()}});
}

enum class after : std::uint8_t { next_request, linger, close };

/// Reads and answers one request. Frees its memory afterwards.
net::awaitable<after> serve_one(served_connection& peer) {
    http_metrics& metrics = peer.self.shared.metrics;
    const gauge_hold inflight{metrics.inflight_requests};
    incoming_request current{peer.self.shared.inflight};
    reply answer = co_await answer_with_what_there_is(peer, current);
    if (answer.status == 0) co_return after::close;
    const bool unread = answer.close || current.skips_body;
    if (current.is_ingestion()) count_answer(metrics, answer);
    tell_rejection(peer, current, answer);
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

constexpr const char* connection_failed = "a connection was dropped";

using namespace std::chrono_literals;

/// The text of Go's servers, such as Prometheus.
constexpr std::string_view answer_to_plain_http =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// Time for the peer to read the answer and to stop sending: a close with unread input would cause a reset.
constexpr auto answer_limit = 1s;
constexpr std::size_t answer_reads_max = 64;

constexpr std::string_view words_of_plain_http = "plain HTTP";

/// Whether an error text, of OpenSSL or ours, is about a certificate of either side.
bool is_about_certificates(std::string_view failure) {
    constexpr std::string_view words[]{"certificate", "unknown CA", "issuer"};
    return std::ranges::any_of(words, [failure](auto each) { return failure.find(each) != std::string_view::npos; });
}

/// Of a connection's begin, at a time.
constexpr std::size_t begin_read_bytes = 1024;

std::string_view text_of(const flat_buffer& bytes) {
    return {static_cast<const char*>(bytes.cdata().data()), bytes.size()};
}

/// A session that has already been sent something.
std::unique_ptr<tls_session> begun_session(std::shared_ptr<const tls_context> context, std::string_view read_ahead) {
    auto made = std::make_unique<tls_session>(std::move(context));
    if (read_ahead.empty()) return made;
    const net::mutable_buffer room = made->input_room();
    if (room.size() < read_ahead.size()) throw std::bad_alloc{};
    made->take_input(net::buffer_copy(room, net::buffer(read_ahead)));
    return made;
}

handshake_outcome outcome_of(error_code error, std::string_view failure) {
    if (!error) return handshake_outcome::completed;
    if (error == boost::beast::error::timeout) return handshake_outcome::timeout;
    if (error != tls_error::failed) return handshake_outcome::closed;
    if (failure.find(words_of_plain_http) != std::string_view::npos) return handshake_outcome::plain_http;
    return is_about_certificates(failure) ? handshake_outcome::certificate : handshake_outcome::failed;
}

/// Explains the mistake to a client that uses http instead of https.
net::awaitable<void> answer_plain_http(timed_stream& stream) {
    stream.expires_after(answer_limit);
    const auto text = net::buffer(answer_to_plain_http);
    auto [error, bytes] = co_await net::async_write(stream, text, no_throw);
    stream.shutdown_send();
    flat_buffer unread{header_read_bytes};
    for (std::size_t reads = 0; !error && reads < answer_reads_max; ++reads) {
        unread.clear();
        error = co_await read_more(stream, unread, header_read_bytes);
    }
}

}  // namespace

net::awaitable<void> serve(sender_connection from, service& offered) {
    served_connection peer{std::move(from), offered};
    for (;;) {
        const bool came = co_await wait_for_request(peer);
        if (!came) co_return;
        if (is_to_be_passed_on(peer) && !peer.lease.over()) co_return pass_on(peer);
        const after next = co_await serve_one(peer);
        if (next == after::linger) co_await linger(peer);
        if (next != after::next_request) co_return;
    }
}

void serve_here(sender_connection from, service& offered) {
    spawn(offered.self.io.get_executor(), serve(std::move(from), offered), connection_failed);
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
    auto moved = moved_to(offered.self.io, std::move(from));
    if (moved) serve_here(std::move(*moved), offered);
}

void handshakes::take(sender_connection from, service& then, proxy_header_rule rule) {
    auto moved = moved_to(io_, std::move(from));
    if (moved) spawn(io_.get_executor(), shake(std::move(*moved), then, rule), connection_failed);
}

net::awaitable<void> handshakes::shake(sender_connection from, service& then, proxy_header_rule rule) {
    leased_stream one{std::move(from)};
    one.stream.expires_after(shared_.settings.handshake_timeout);
    flat_buffer begin{proxy_header_bytes_max + begin_read_bytes};
    if (rule != proxy_header_rule::ignored) {
        const bool goes_on = co_await take_proxy_header(one, begin, rule == proxy_header_rule::required);
        if (!goes_on) co_return;
    }
    std::string read_ahead{text_of(begin)};
    if (!has_tls()) {
        const bool is_kept = one.lease.enter(connection_stage::waiting);
        if (is_kept) serve_there(std::move(one).release(std::move(read_ahead)), then);
        co_return;
    }
    one.stream.start_tls(begun_session(files_->current(), read_ahead));
    auto made = co_await secure(one);
    if (made) serve_there(std::move(*made), then);
}

/// Takes the header off the front of `begin`, and its sender for the connection's. Of an untrusted peer, anything else
/// stays for the handshake.
/// @return false: close the connection.
net::awaitable<bool> handshakes::take_proxy_header(leased_stream& from, flat_buffer& begin, bool is_required) {
    proxy_header found{.state = proxy_header_state::incomplete};
    error_code error;
    while (!error && found.state == proxy_header_state::incomplete) {
        error = co_await read_more(from.stream, begin, begin_read_bytes);
        if (!error) found = parse_proxy_header(text_of(begin));
    }
    if (!is_required && (error || found.state == proxy_header_state::absent)) co_return true;

    auto outcome = proxy_header_outcome::completed;
    const std::string proxy = from.sender_name();
    const auto sender = found.source ? asio_address(*found.source) : ip_address_of(from.stream.peer());
    if (!is_required)
        outcome = proxy_header_outcome::untrusted;
    else if (error)
        outcome = error == boost::beast::error::timeout ? proxy_header_outcome::timeout : proxy_header_outcome::closed;
    else if (found.state != proxy_header_state::complete)
        outcome = proxy_header_outcome::malformed;
    else if (sender && !from.lease.set_sender(*sender))
        outcome = proxy_header_outcome::given_up;
    if (error && !from.lease.enter(connection_stage::tls_handshake)) outcome = proxy_header_outcome::given_up;
    shared_.metrics.proxy_headers[outcome].add();
    begin.consume(found.size);
    if (outcome == proxy_header_outcome::completed) co_return true;
    const bool is_probe = outcome == proxy_header_outcome::closed && begin.size() == 0;  // whether the port is open
    if (!is_probe) tell(outcome, proxy);
    co_return false;
}

net::awaitable<std::optional<sender_connection>> handshakes::secure(leased_stream& one) {
    const auto began = monotonic_clock::now();
    const gauge_hold running{shared_.metrics.handshakes_running};
    const std::string peer = one.sender_name();
    auto [error] = co_await one.stream.async_handshake(no_throw);

    const bool is_kept = one.lease.enter(connection_stage::waiting);
    const std::string why = one.stream.tls()->failure();
    const handshake_outcome outcome = is_kept ? outcome_of(error, why) : handshake_outcome::given_up;
    shared_.metrics.handshakes[outcome].add();
    if (outcome != handshake_outcome::completed) tell(outcome, peer, why.empty() ? error.message() : why);
    if (outcome != handshake_outcome::completed && outcome != handshake_outcome::plain_http) co_return std::nullopt;

    sender_connection came = std::move(one).release();
    if (outcome == handshake_outcome::plain_http) {
        came.tls.reset();
        leased_stream plain{std::move(came)};
        co_await answer_plain_http(plain.stream);
        co_return std::nullopt;
    }
    shared_.metrics.handshake_duration.observe(monotonic_clock::now() - began);
    co_return came;
}

void handshakes::tell(proxy_header_outcome outcome, std::string_view peer) {
    if (outcome == proxy_header_outcome::given_up) return;  // closings_log covers these
    if (const auto connections = header_logs_.count(outcome, 1))
        log::warn("connections closed for their PROXY headers",
                  {{"connections", *connections}, {"outcome", name_of(outcome)}, {"sender", peer}});
}

void handshakes::tell(handshake_outcome outcome, std::string_view peer, std::string_view why) {
    // closings_log covers these.
    if (outcome == handshake_outcome::given_up) return;
    const auto connections = logs_.count(outcome, 1);
    if (!connections) return;
    log::warn("TLS handshakes failed",
              {{"connections", *connections}, {"outcome", name_of(outcome)}, {"sender", peer}, {"err", why}});
}

}  // namespace seriesgate
