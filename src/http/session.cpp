#include "http/session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>

#include "http/admin_handler.hpp"
#include "http/write_handler.hpp"
#include "upstream/deadline.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;
using boost::beast::iequals;

constexpr std::array<std::string_view, 4> write_paths{"/api/v1/write", "/api/v1/push", "/api/prom/push",
                                                      "/api/v1/receive"};

constexpr std::uint32_t header_bytes_max = 64 * 1024;
/// Also bounds chunk extensions; a body is read past this buffer.
constexpr std::size_t read_buffer_bytes_max = 128 * 1024;
constexpr std::size_t first_read_bytes = 16 * 1024;
constexpr auto write_limit = 30s;
/// How long a sender that we stop listening to may go on sending, so that it reads our answer and not a reset.
constexpr auto linger_limit = 2s;

using request_parser = http::request_parser<http::string_body>;

/// One request on its way through the session.
struct exchange {
    request_parser parser;
    inflight_lease memory;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    bool is_write = false;

    exchange(gauge& inflight, std::uint64_t inflight_max) : memory(inflight, inflight_max) {}

    [[nodiscard]] std::string_view target() const { return parser.get().target(); }
    [[nodiscard]] std::string_view path() const { return target().substr(0, target().find('?')); }
    [[nodiscard]] std::string_view query() const {
        const auto at = target().find('?');
        return at == std::string_view::npos ? std::string_view{} : target().substr(at + 1);
    }
};

/// One connection: its socket, what has been read ahead, and the time limit of what it is doing.
struct connection {
    tcp::socket socket;
    boost::beast::flat_buffer buffer{read_buffer_bytes_max};
    deadline time{socket};
    worker& self;

    connection(tcp::socket accepted, worker& owner) : socket(std::move(accepted)), self(owner) {}
};

/// Waits for the first byte of the next request. @return false when the connection is to be closed.
net::awaitable<bool> wait_for_request(connection& peer) {
    if (peer.buffer.size() != 0) co_return true;  // pipelined
    peer.time.expires_after(peer.self.shared.settings.server.idle_timeout);
    const auto room = peer.buffer.prepare(first_read_bytes);
    auto [error, bytes] = co_await peer.socket.async_read_some(room, no_throw);
    if (error) co_return false;
    peer.buffer.commit(bytes);
    co_return true;
}

/// A request that did not come in time is not the sender's fault for good: 503, because Prometheus drops what is
/// answered with 408.
reply too_slow(worker& self) {
    return rejection(self.shared.metrics, reject_reason::timeout, 503,
                     "request not complete within server.readTimeout");
}

/// The sender has closed or the network failed: nobody to answer to.
reply gone() {
    return {.status = 0};
}

/// Bytes that are not HTTP, as against a connection that ended.
bool is_senders_fault(error_code error) {
    return error.category() == http::make_error_code(http::error::bad_method).category() &&
           error != http::error::end_of_stream && error != http::error::partial_message;
}

reply malformed_http(worker& self, error_code error) {
    return rejection(self.shared.metrics, reject_reason::malformed, 400, "malformed HTTP: " + error.message());
}

/// Reads the header. @return what to answer if that is the end of it, or nothing to go on.
net::awaitable<std::optional<reply>> read_header(connection& peer, exchange& current) {
    current.parser.header_limit(header_bytes_max);
    current.parser.body_limit(boost::none);  // checked by us, to answer in our words
    peer.time.expires_after(peer.self.shared.settings.server.read_timeout);
    auto [error, bytes] = co_await http::async_read_header(peer.socket, peer.buffer, current.parser, no_throw);
    static_cast<void>(bytes);
    if (!error) co_return std::nullopt;
    if (peer.time.expired()) co_return too_slow(peer.self);
    if (is_senders_fault(error)) co_return malformed_http(peer.self, error);
    co_return gone();
}

bool is_known_write(std::string_view path) {
    return std::ranges::find(write_paths, path) != write_paths.end();
}

/// Turns away what need not be read to the end. Decided by the header alone.
std::optional<reply> check_header(exchange& current, worker& self) {
    gate_metrics& metrics = self.shared.metrics;
    const server_config& bounds = self.shared.settings.server;
    const auto& header = current.parser.get();
    current.is_write = is_known_write(current.path());

    const std::string_view allowed = current.is_write ? "POST" : admin_methods(current.path());
    if (allowed.empty()) return rejection(metrics, reject_reason::unknown_path, 404, "no such path");
    if (!http::token_list{allowed}.exists(header.method_string())) {
        reply made = rejection(metrics, reject_reason::method_not_allowed, 405,
                               std::string{"method not allowed: this path takes "}.append(allowed));
        made.headers.set(http::field::allow, allowed);
        return made;
    }
    const auto coding = header.find(http::field::transfer_encoding);
    if (coding != header.end() && !iequals(coding->value(), "chunked")) {
        // Where such a body ends is unknown, and Beast before 1.92 believes that there is none.
        reply made = rejection(metrics, reject_reason::malformed, 400, "Transfer-Encoding other than chunked");
        made.close = true;
        return made;
    }
    if (const auto length = current.parser.content_length()) {
        if (*length > bounds.body_bytes_max)
            return rejection(metrics, reject_reason::too_large, 400, "body larger than server.maxRequestBytes");
        // Only what has come is taken (read_body): announced bytes that never come must not keep others out.
        if (!current.memory.has_room(*length)) return overloaded(metrics);
    }
    return std::nullopt;
}

/// Lets a sender that asks first go on. Source: RFC 9110, section 10.1.1.
net::awaitable<bool> send_continue(connection& peer, const exchange& current) {
    const auto expect = current.parser.get().find(http::field::expect);
    if (expect == current.parser.get().end() || !iequals(expect->value(), "100-continue")) co_return true;
    if (peer.buffer.size() != 0) co_return true;  // it has not waited
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto text = net::buffer(go_on);
    auto [error, bytes] = co_await net::async_write(peer.socket, text, no_throw);
    static_cast<void>(bytes);
    co_return !error;
}

/// Reads the body, at most server.maxRequestBytes, within the read timeout that began with the header.
net::awaitable<std::optional<reply>> read_body(connection& peer, exchange& current) {
    const server_config& bounds = peer.self.shared.settings.server;
    gate_metrics& metrics = peer.self.shared.metrics;
    std::size_t counted = 0;
    while (!current.parser.is_done()) {
        auto [error, bytes] = co_await http::async_read_some(peer.socket, peer.buffer, current.parser, no_throw);
        static_cast<void>(bytes);
        if (peer.time.expired()) co_return too_slow(peer.self);
        if (error && is_senders_fault(error)) co_return malformed_http(peer.self, error);
        if (error) co_return gone();
        const std::size_t size = current.parser.get().body().size();
        if (size > bounds.body_bytes_max)
            co_return rejection(metrics, reject_reason::too_large, 400, "body larger than server.maxRequestBytes");
        if (!current.memory.grow(size - counted)) co_return overloaded(metrics);
        counted = size;
    }
    co_return std::nullopt;
}

/// Reads one request up to its answer. A reply with status 0 means that the sender is gone.
net::awaitable<reply> answer_one(connection& peer, exchange& current) {
    auto refused = co_await read_header(peer, current);
    if (!refused) refused = check_header(current, peer.self);
    if (!refused) {
        const bool going_on = co_await send_continue(peer, current);
        if (!going_on) co_return gone();
        refused = co_await read_body(peer, current);
    }
    if (refused) {
        // What of the request has not been read cannot be told from the next one.
        refused->close = refused->close || !current.parser.is_done();
        co_return std::move(*refused);
    }
    const auto& message = current.parser.get();
    if (!current.is_write) {
        const admin_request question{
            .path = current.path(), .query = current.query(), .is_head = message.method() == http::verb::head};
        co_return co_await handle_admin(question, peer.self);
    }
    const write_request request{
        .headers = message, .query = current.query(), .body = message.body(), .memory = current.memory};
    co_return co_await handle_write(request, peer.self);
}

/// @return whether the connection can be used for another request.
net::awaitable<bool> send(connection& peer, const exchange& current, reply answer) {
    http::response<http::span_body<const char>> message;
    static_cast<http::fields&>(message) = std::move(answer.headers);
    message.version(current.parser.get().version() == 10 ? 10 : 11);
    message.result(answer.status);
    message.keep_alive(!answer.close && !peer.self.shared.draining && current.parser.is_done() &&
                       current.parser.keep_alive());
    const bool is_head = current.parser.is_header_done() && current.parser.get().method() == http::verb::head;
    const bool has_body = answer.status != 204 && answer.status != 304;
    if (has_body && !answer.length_unknown) message.content_length(answer.text().size());
    if (has_body && !is_head) message.body() = {answer.text().data(), answer.text().size()};

    peer.time.expires_after(write_limit);
    auto [error, bytes] = co_await http::async_write(peer.socket, message, no_throw);
    static_cast<void>(bytes);
    co_return !error && message.keep_alive();
}

/// Closes so that the sender reads our last answer: a close with unread input would be a reset.
net::awaitable<void> linger(connection& peer) {
    error_code ignored;
    peer.socket.shutdown(tcp::socket::shutdown_send, ignored);
    peer.time.expires_after(linger_limit);
    std::array<char, 4096> unread;
    const auto sink = net::buffer(unread);
    for (;;) {
        auto [error, bytes] = co_await peer.socket.async_read_some(sink, no_throw);
        static_cast<void>(bytes);
        if (error) co_return;
    }
}

/// The tenant that the request names, as far as its header has been read.
std::string_view tenant_of(const exchange& current, const worker& self) {
    const auto& headers = current.parser.get();
    const auto found = headers.find(self.shared.settings.tenant_header);
    return found == headers.end() ? std::string_view{} : std::string_view{found->value()};
}

/// Counts while a request is being worked on.
class gauge_guard {
    gauge& gauge_;

  public:
    explicit gauge_guard(gauge& counted) : gauge_(counted) { gauge_.add(); }
    gauge_guard(const gauge_guard&) = delete;
    gauge_guard& operator=(const gauge_guard&) = delete;
    ~gauge_guard() { gauge_.sub(); }
};

}  // namespace

net::awaitable<void> serve(tcp::socket socket, worker& self) {
    gate_metrics& metrics = self.shared.metrics;
    const gauge_guard open{metrics.connections};
    connection peer{std::move(socket), self};
    for (;;) {
        const bool came = co_await wait_for_request(peer);
        if (!came) co_return;

        const gauge_guard inflight{metrics.inflight_requests};
        exchange current{metrics.inflight_bytes, self.shared.settings.server.inflight_bytes_max};
        reply answer = co_await answer_one(peer, current);
        if (answer.status == 0) co_return;
        const bool unread = answer.close;
        if (current.is_write) metrics.requests[answer.status].add();
        self.shared.rejections.tell(answer, peer.socket, tenant_of(current, self));
        const bool again = co_await send(peer, current, std::move(answer));
        if (current.is_write) metrics.request_duration.observe(std::chrono::steady_clock::now() - current.began);
        if (again) continue;
        if (unread) co_await linger(peer);
        co_return;
    }
}

}  // namespace seriesgate
