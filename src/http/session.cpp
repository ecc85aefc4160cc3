#include "http/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cassert>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "config/units.hpp"
#include "core/counted.hpp"
#include "http/authentication.hpp"
#include "http/header_check.hpp"
#include "http/request_head.hpp"
#include "http/served_connection.hpp"
#include "log/log.hpp"
#include "net/transfer_coding.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// A sender that is told to come again keeps its connection if no more than this of its body is left to read: opening
/// another one would cost more.
constexpr std::uint64_t unread_bytes_max = 1 << 20;

using request_parser = http::request_parser<http::string_body>;

/// One request on its way through the session.
struct exchange {
    request_parser parser;
    request_header header;  ///< as it was when it had been read: no trailer becomes part of it
    bool keep_alive = false;
    inflight_lease memory;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    const route* to = nullptr;  ///< once the header is known, if there is such a path
    bool skips_body = false;    ///< it is answered first, and what is left of its body is read then, for nothing
    identity who{};             ///< once it is known

    explicit exchange(inflight_room& room) : memory(room) { parser.on_chunk_header(check_chunk_extension); }

    /// Of a request whose header is malformed behind its first line, too: who asks with HEAD reads no body.
    [[nodiscard]] bool is_head() const { return parser.get().method() == http::verb::head; }
    [[nodiscard]] bool is_ingestion() const { return to != nullptr && to->kind == route_kind::ingestion; }
};

/// Whose request it is: the tenant of the user, or else the one that the header names.
std::string_view tenant_for(const exchange& current, std::string_view tenant_header) {
    if (!current.who.bound_tenant.empty()) return current.who.bound_tenant;
    return tenant_of(current.header, tenant_header);
}

/// Guests may ask for health, but not write.
reply too_many_connections(served_connection& peer) {
    peer.self.shared.metrics.connections_turned_away[*peer.lease.over()].add();
    const bool of_peer = peer.lease.over() == connection_bound::per_peer;
    reply made =
        come_again(text_reply(503, of_peer ? "over server.maxConnectionsPerPeer: all are being worked on, try again"
                                           : "over server.maxConnections: all are being worked on, try again"));
    made.close = true;
    return made;
}

/// How far a request has come.
std::string progress_of(const exchange& current) {
    if (!current.parser.is_header_done()) return "its header is not complete";
    const std::size_t bytes = current.parser.get().body().size();
    const auto announced = current.parser.content_length();
    return announced ? fmt::format("{} of {} of its body came", bytes, counted(*announced, "byte"))
                     : fmt::format("{} of its body came", counted(bytes, "byte"));
}

/// A request that did not come in time is not the sender's fault for good: 503, because Prometheus drops what is
/// answered with 408.
reply too_slow(worker& self, const exchange& current) {
    const std::string progress = progress_of(current);
    const server_config& bounds = self.shared.settings;
    const bool in_header = !current.parser.is_header_done() && bounds.header_timeout < bounds.read_timeout;
    return come_again(rejection(
        reject_reason::timeout, 503,
        self.senders.hurried()
            ? "shutting down: request not complete, " + progress
            : fmt::format("request not complete within server.{} ({}): {}", in_header ? "headerTimeout" : "readTimeout",
                          format_duration(in_header ? bounds.header_timeout : bounds.read_timeout), progress)));
}

/// The sender has closed or the network failed: nobody to answer to.
reply gone() {
    return {.status = 0};
}

/// What to answer to a request that could not be read.
reply unreadable(worker& self, const exchange& current, error_code error) {
    if (error == boost::beast::error::timeout) return too_slow(self, current);
    if (error == net::error::no_memory) return overloaded(current.memory.use());
    const bool is_senders_fault = error.category() == http::make_error_code(http::error::bad_method).category() &&
                                  error != http::error::end_of_stream && error != http::error::partial_message;
    return is_senders_fault ? malformed_http(error.message()) : gone();
}

/// Bounds a header, and has it count among the memory of all requests.
struct charged_meter : header_meter {
    inflight_lease& memory;

    charged_meter(std::size_t bytes_max, inflight_lease& lease) : header_meter(bytes_max), memory(lease) {}

    error_code take(std::string_view fresh) {
        const std::size_t before = bytes();
        if (const error_code error = header_meter::take(fresh)) return error;
        return memory.grow(bytes() - before) ? error_code{} : error_code{net::error::no_memory};
    }
};

/// Reads the header. @return what to answer if that is the end of it, or nothing to go on.
net::awaitable<std::optional<reply>> read_header(served_connection& peer, exchange& current) {
    const server_config& bounds = peer.self.shared.settings;
    peer.allow(std::min(bounds.header_timeout, bounds.read_timeout));
    charged_meter meter{bounds.header_bytes_max, current.memory};
    const error_code error = co_await read_header(peer.stream, peer.buffer, current.parser, meter);
    if (error == http::error::header_limit) co_return header_too_large(bounds.header_bytes_max);
    if (error) co_return unreadable(peer.self, current, error);
    current.keep_alive = current.parser.keep_alive();
    current.header = std::move(current.parser.get().base());
    co_return std::nullopt;
}

/// What to answer if there is more to do than can be done in time.
std::optional<reply> turned_away(const worker& self, const exchange& current) {
    if (!self.delay.is_standing(current.began)) return std::nullopt;
    return too_busy(self.delay.late(current.began), self.shared.settings.queue_delay_max);
}

/// Whether the sender has given up while its request waited: then it sends that again, elsewhere.
bool is_abandoned(const served_connection& peer, const exchange& current) {
    const queue_delay& delay = peer.self.delay;
    return delay.may_be_standing() && current.is_ingestion() && delay.is_late(queue_delay::clock::now()) &&
           peer.stream.peer_has_ended();
}

bool is_for_overload(const reply& rejected) {
    return rejected.rejected == reject_reason::overloaded || rejected.rejected == reject_reason::queue_delay;
}

/// Whether its sender sends all of it, whatever it is answered, and that is worth reading.
bool is_body_short(const exchange& current) {
    const auto announced = current.parser.content_length_remaining();
    return announced && *announced <= unread_bytes_max && !expects_continue(current.header);
}

/// Decides by the header whether to go on. @return what to answer if not.
std::optional<reply> check(const served_connection& peer, exchange& current) {
    const request_bounds bounds{.routes = peer.offered.routes,
                                .tenant_header = peer.self.shared.tenant_header,
                                .body_bytes_max = peer.self.shared.settings.body_bytes_max,
                                .memory = current.memory};
    std::optional<std::uint64_t> announced;
    if (const auto length = current.parser.content_length()) announced = *length;
    header_verdict verdict = check_header(current.header, announced, bounds);
    current.to = verdict.to;
    if (!verdict.rejected && current.is_ingestion()) verdict.rejected = turned_away(peer.self, current);
    if (verdict.rejected) current.skips_body = is_for_overload(*verdict.rejected) && is_body_short(current);
    return std::move(verdict.rejected);
}

/// Whoever may not ask is told nothing else. @return what to answer, if that is the end of it.
net::awaitable<std::optional<reply>> find_out_who(served_connection& peer, exchange& current) {
    const connection_facts from{.peer = peer.sender, .certificate_name = peer.certificate_name};
    co_return co_await authenticate(current.header, current.to, from, peer.self, current.who);
}

/// Lets a sender that asks first go on.
net::awaitable<bool> send_continue(served_connection& peer, const exchange& current) {
    if (!expects_continue(current.header)) co_return true;
    if (peer.buffer.size() != 0) co_return true;  // it has not waited
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto text = net::buffer(go_on);
    auto [error, bytes] = co_await net::async_write(peer.stream, text, no_throw);
    static_cast<void>(bytes);
    co_return !error;
}

/// Gives the rest of the request its time: what server.readTimeout leaves of it.
void allow_rest(served_connection& peer, const exchange& current) {
    const timed_stream::clock::duration limit = peer.self.shared.settings.read_timeout;
    peer.allow(limit - (timed_stream::clock::now() - current.began));
}

/// Reads the body, at most server.maxRequestBytes, within the read timeout that began with the header.
net::awaitable<std::optional<reply>> read_body(served_connection& peer, exchange& current) {
    const server_config& bounds = peer.self.shared.settings;
    allow_rest(peer, current);
    const std::string& body = current.parser.get().body();
    std::size_t counted = 0;
    while (!current.parser.is_done()) {
        const error_code error = co_await read_body_some(peer.stream, peer.buffer, current.parser);
        if (error) co_return unreadable(peer.self, current, error);
        if (body.size() > bounds.body_bytes_max) co_return body_too_large(bounds.body_bytes_max);
        if (!current.memory.grow(body.size() - counted)) {
            reply rejected = overloaded(current.memory.use());
            std::string{}.swap(current.parser.get().body());
            current.memory.release();
            co_return rejected;
        }
        counted = body.size();
    }
    current.parser.get().base().clear();  // trailers: nobody's to read
    co_return std::nullopt;
}

/// Reads a request to its end. @return what to answer if it comes to none.
net::awaitable<std::optional<reply>> receive(served_connection& peer, exchange& current) {
    auto rejected = co_await read_header(peer, current);
    if (!rejected) {
        rejected = check(peer, current);
        const bool is_sound = !rejected || !rejected->close;
        if (is_sound && peer.self.shared.access.asks()) {
            auto denied = co_await find_out_who(peer, current);
            if (denied) {
                rejected = std::move(denied);
                current.skips_body = false;  // nothing is read for whoever may not ask
            }
        }
    }
    if (!rejected) {
        const bool going_on = co_await send_continue(peer, current);
        if (!going_on) co_return gone();
        rejected = co_await read_body(peer, current);
    }
    // What of the request has not been read cannot be told from the next one.
    if (rejected && !current.skips_body) rejected->close = rejected->close || !current.parser.is_done();
    co_return rejected;
}

/// Reads one request up to its answer. A reply with status 0 means that the sender is gone.
net::awaitable<reply> answer_one(served_connection& peer, exchange& current) {
    if (is_to_be_passed_on(peer)) co_return too_many_connections(peer);
    auto rejected = co_await receive(peer, current);
    if (rejected) co_return std::move(*rejected);
    if (is_abandoned(peer, current)) {
        peer.self.shared.metrics.requests_abandoned.add();
        co_return gone();
    }
    if (!peer.lease.enter(connection_stage::working)) co_return gone();
    assert(current.to != nullptr);
    peer.self.delay.note_request();
    if (!current.is_ingestion()) current.memory.release();  // who asks how much is in flight is no part of it
    http_request request{.headers = current.header,
                         .query = query_of(current.header.target()),
                         .is_head = current.is_head(),
                         .body = std::move(current.parser.get().body()),
                         .memory = current.memory,
                         .sender = peer.sender,
                         .user = current.who.user,
                         .tenant = tenant_for(current, peer.self.shared.tenant_header),
                         .tenant_is_bound = !current.who.bound_tenant.empty(),
                         .authorization_is_ours = current.who.authorization_is_ours};
    co_return co_await current.to->answer(request);
}

/// The same. Memory that runs out ends this request and no other.
net::awaitable<reply> answer_with_what_there_is(served_connection& peer, exchange& current) {
    try {
        co_return co_await answer_one(peer, current);
    } catch (const std::bad_alloc&) {  // what else is allocated here is small, and was given back by now
    }
    std::string{}.swap(current.parser.get().body());
    reply made = out_of_memory();
    made.close = !current.parser.is_done();
    co_return made;
}

/// @return whether the connection can be used for another request.
net::awaitable<bool> send(served_connection& peer, const exchange& current, reply answer) {
    http::response<http::span_body<const char>> message;
    static_cast<http::fields&>(message) = std::move(answer.headers);
    if (peer.self.shared.access.asks()) add_answer_headers(peer.self.shared.access, message);
    message.version(current.header.version() == 10 ? 10 : 11);
    message.result(answer.status);
    message.keep_alive(!answer.close && !peer.lease.over() && !peer.self.shared.life.draining() &&
                       (current.parser.is_done() || current.skips_body) && current.keep_alive);
    const bool has_body = answer.status != 204 && answer.status != 304;
    if (has_body && !answer.length_unknown) message.content_length(answer.text().size());
    if (has_body && !current.is_head()) message.body() = {answer.text().data(), answer.text().size()};

    peer.allow(peer.self.shared.settings.write_timeout);
    auto [error, bytes] = co_await http::async_write(peer.stream, message, no_throw);
    static_cast<void>(bytes);
    peer.note_end(error, connection_wait::reading);
    co_return !error && message.keep_alive();
}

/// Reads what is left of a body that is not wanted. @return whether the next request can follow.
net::awaitable<bool> skip_rest(served_connection& peer, exchange& current) {
    allow_rest(peer, current);
    while (!current.parser.is_done()) {
        const error_code error = co_await read_body_some(peer.stream, peer.buffer, current.parser);
        if (error) co_return false;
        current.parser.get().body().clear();
    }
    co_return true;
}

/// Of a request of ingestion.
void count_answer(http_metrics& metrics, const reply& answer) {
    metrics.requests[answer.status].add();
    if (answer.rejected && answer.status / 100 == 4) metrics.rejected_4xx.add();
}

/// Counts what the gate itself answers with an error, and says so now and then.
void tell_rejection(const served_connection& peer, const exchange& current, const reply& answer) {
    if (!answer.rejected) return;
    http_shared& shared = peer.self.shared;
    shared.metrics.requests_rejected[*answer.rejected].add();
    const auto requests = shared.rejections.count(*answer.rejected);
    if (!requests) return;
    log::write(log::level::warn, "requests rejected",
               describe_rejection(answer, *requests, peer.sender, current.who.user,
                                  tenant_for(current, shared.tenant_header)));
}

constexpr std::size_t logged_path_bytes_max = 200;

/// Each request has a line for who looks for one.
void log_answer(const served_connection& peer, const exchange& current, unsigned status) {
    if (!log::is_written(log::level::debug)) return;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - current.began;
    log::debug("request answered", {{"sender", peer.sender},
                                    {"user", current.who.user},
                                    {"tenant", tenant_for(current, peer.self.shared.tenant_header)},
                                    {"method", std::string_view{current.header.method_string()}},
                                    {"path", path_of(current.header.target()).substr(0, logged_path_bytes_max)},
                                    {"status", status},
                                    {"seconds", took.count()}});
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

/// What becomes of a connection after an answer.
enum class after : std::uint8_t { next_request, linger, close };

/// Reads and answers one request; what it took is given back at the end of it.
net::awaitable<after> serve_one(served_connection& peer) {
    http_metrics& metrics = peer.self.shared.metrics;
    const gauge_guard inflight{metrics.inflight_requests};
    exchange current{peer.self.shared.inflight};
    reply answer = co_await answer_with_what_there_is(peer, current);
    if (answer.status == 0) co_return after::close;
    const bool unread = answer.close || current.skips_body;
    if (current.is_ingestion()) count_answer(metrics, answer);
    tell_rejection(peer, current, answer);
    // Before the answer: a sender that comes again at once must not meet its own share.
    std::string{}.swap(current.parser.get().body());
    current.memory.release();
    const unsigned status = answer.status;
    bool again = co_await send(peer, current, std::move(answer));
    log_answer(peer, current, status);
    if (current.is_ingestion()) metrics.request_duration.observe(std::chrono::steady_clock::now() - current.began);
    if (again && current.skips_body) again = co_await skip_rest(peer, current);
    if (again) co_return after::next_request;
    co_return unread || peer.buffer.size() != 0 ? after::linger : after::close;
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

}  // namespace seriesgate
