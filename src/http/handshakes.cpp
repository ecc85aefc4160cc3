#include "http/handshakes.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "core/sender_address.hpp"
#include "http/session.hpp"
#include "net/event_loop.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// The text of Go's servers, such as Prometheus.
constexpr std::string_view answer_to_plain_http =
    "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
/// Time for the peer to read the answer and to stop sending: a close with unread input would cause a reset.
constexpr auto answer_limit = 1s;
constexpr std::size_t answer_reads_max = 64;

/// Part of the text of net/openssl.cpp for SSL_R_HTTP_REQUEST.
constexpr std::string_view words_of_plain_http = "plain HTTP";

/// Whether an error text, of OpenSSL or ours, is about a certificate of either side.
bool is_about_certificates(std::string_view failure) {
    constexpr std::string_view words[]{"certificate", "unknown CA", "issuer"};
    return std::ranges::any_of(words, [failure](auto each) { return failure.find(each) != std::string_view::npos; });
}

/// Bytes of one read, until the PROXY header is complete.
constexpr std::size_t begin_read_bytes = 1024;

/// A TLS session that has taken the bytes read behind the PROXY header.
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
    // Whether the registry has shut it down.
    if (error && !from.lease.enter(connection_stage::tls_handshake)) outcome = proxy_header_outcome::given_up;
    shared_.metrics.proxy_headers[outcome].add();
    begin.consume(found.size);
    if (outcome == proxy_header_outcome::completed) co_return true;
    const bool is_probe = outcome == proxy_header_outcome::closed && begin.size() == 0;  // whether the port is open
    if (!is_probe) log_outcome(outcome, proxy);
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
    if (outcome != handshake_outcome::completed) log_outcome(outcome, peer, why.empty() ? error.message() : why);
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

void handshakes::log_outcome(proxy_header_outcome outcome, std::string_view peer) {
    if (outcome == proxy_header_outcome::given_up) return;  // closings_log covers these
    if (const auto connections = header_logs_.count(outcome, 1))
        log::warn("connections closed for their PROXY headers",
                  {{"connections", *connections}, {"outcome", name_of(outcome)}, {"sender", peer}});
}

void handshakes::log_outcome(handshake_outcome outcome, std::string_view peer, std::string_view why) {
    // closings_log covers these.
    if (outcome == handshake_outcome::given_up) return;
    const auto connections = logs_.count(outcome, 1);
    if (!connections) return;
    log::warn("TLS handshakes failed",
              {{"connections", *connections}, {"outcome", name_of(outcome)}, {"sender", peer}, {"err", why}});
}

}  // namespace seriesgate
