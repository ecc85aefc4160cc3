#include "http/tls_handshakes.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "http/served_connection.hpp"
#include "http/session.hpp"
#include "net/event_loop.hpp"
#include "net/http_messages.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr const char* handshake_failed = "a connection was dropped";

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
    static_cast<void>(bytes);
    stream.shutdown_send();
    flat_buffer unread{header_read_bytes};
    for (std::size_t reads = 0; !error && reads < answer_reads_max; ++reads) {
        unread.clear();
        error = co_await read_more(stream, unread, header_read_bytes);
    }
}

}  // namespace

struct handshakes::tls_handshake : leased_stream {
    http_metrics& metrics;
    const std::string peer;
    const std::chrono::steady_clock::time_point began = monotonic_clock::now();

    tls_handshake(sender_connection from, http_metrics& counts)
        : leased_stream(std::move(from)), metrics(counts), peer(sender_at(stream.peer())) {
        metrics.handshakes_running.add();
    }
    tls_handshake(const tls_handshake&) = delete;
    tls_handshake& operator=(const tls_handshake&) = delete;
    ~tls_handshake() { metrics.handshakes_running.sub(); }
};

void handshakes::take(sender_connection from, service& then) {
    auto moved = moved_to(io_, std::move(from));
    if (moved) spawn(io_.get_executor(), shake(std::move(*moved), then), handshake_failed);
}

net::awaitable<void> handshakes::shake(sender_connection from, service& then) {
    auto made = co_await secure(std::move(from));
    if (made) serve_there(std::move(*made), then);
}

net::awaitable<std::optional<sender_connection>> handshakes::secure(sender_connection from) {
    from.tls = std::make_unique<tls_session>(context_());
    tls_handshake one{std::move(from), shared_.metrics};
    one.stream.expires_after(shared_.settings.handshake_timeout);
    auto [error] = co_await one.stream.async_handshake(no_throw);

    const bool is_kept = one.lease.enter(connection_stage::waiting);
    const std::string why = one.stream.tls()->failure();
    const handshake_outcome outcome = is_kept ? outcome_of(error, why) : handshake_outcome::given_up;
    shared_.metrics.handshakes[outcome].add();
    if (outcome != handshake_outcome::completed) tell(outcome, one.peer, why.empty() ? error.message() : why);
    if (outcome != handshake_outcome::completed && outcome != handshake_outcome::plain_http) co_return std::nullopt;

    sender_connection came = std::move(one).release();
    if (outcome == handshake_outcome::plain_http) {
        came.tls.reset();
        leased_stream plain{std::move(came)};
        co_await answer_plain_http(plain.stream);
        co_return std::nullopt;
    }
    shared_.metrics.handshake_duration.observe(monotonic_clock::now() - one.began);
    co_return came;
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
