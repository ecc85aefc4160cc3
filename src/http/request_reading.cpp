#include "http/request_reading.hpp"

#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <utility>

#include "config/units.hpp"
#include "core/path_tenant.hpp"
#include "core/sender_address.hpp"
#include "core/text.hpp"
#include "http/cross_site.hpp"
#include "net/http_messages.hpp"

namespace seriesgate {
namespace {

reply malformed_http(std::string_view fault) {
    return rejection(reject_reason::invalid_http, 400, std::string{"malformed HTTP: "}.append(fault));
}

reply header_too_large(std::uint64_t bytes_max) {
    return rejection(reject_reason::invalid_http, 431,
                     fmt::format("header larger than server.maxHeaderBytes ({}) or {} lines", format_size(bytes_max),
                                 header_lines_max));
}

reply body_too_large(std::uint64_t bytes_max, std::optional<std::uint64_t> announced = std::nullopt) {
    const std::string size = announced ? counted(*announced, "byte") : std::string{"it goes on"};
    return rejection(
        reject_reason::too_large, 400,
        fmt::format("body larger than server.maxRequestBytes: {}, at most {}", size, counted(bytes_max, "byte")));
}

/// The Allow header of a path, or of the whole gate. Source: RFC 9110, sections 9.1 and 9.3.7.
std::string methods_of(const route* to) {
    if (to == nullptr) return "GET, HEAD, POST, OPTIONS";
    return std::string{to->kind == route_kind::ingestion ? "GET, HEAD, " : ""}.append(to->methods).append(", OPTIONS");
}

reply wrong_method(std::string_view method, const route& to) {
    reply made =
        rejection(reject_reason::method_not_allowed, 405,
                  fmt::format("method not allowed: this path takes {}, not {}", to.methods, shown_in_answer(method)));
    made.headers.set(http::field::allow, methods_of(&to));
    return made;
}

const route* find_route(const request_header& header, const route_table& routes, std::string& tenant) {
    if (const route* const found = routes.find(path_of(header.target()))) return found;
    const std::string meant = path_meant(header);
    const route* const found = routes.find(meant);
    return found != nullptr ? found : routes.find_by_tenant(meant, tenant);
}

/// Rejects a request whose path and header name different tenants: the store might use the other one.
std::optional<reply> two_tenants(const request_header& header, const header_verdict& of,
                                 std::string_view tenant_header) {
    const auto named = header.find(tenant_header);
    if (of.tenant.empty() || named == header.end()) return std::nullopt;
    const std::string_view other = named->value();
    const bool is_account = find_tenant_mark(of.to->path)->is_account;
    if (tenant_in_segment(other, is_account) == of.tenant) return std::nullopt;
    return rejection(reject_reason::invalid_http, 400,
                     fmt::format("two tenants: {} in the path, {} in {}", shown_in_answer(of.tenant),
                                 shown_in_answer(other), tenant_header));
}

/// Answers health checks: HAProxy sends OPTIONS for `/`; Vector sends GET to the write path, and expects 200.
std::optional<reply> answer_to_probe(const request_header& header, const route* to) {
    const bool is_reading = header.method() == http::verb::get || header.method() == http::verb::head;
    if (is_reading && to != nullptr && to->kind == route_kind::ingestion)
        return text_reply(200, "remote write is taken here, by POST");
    const std::string_view target = header.target();
    if (header.method() != http::verb::options || (to == nullptr && target != "/" && target != "*"))
        return std::nullopt;
    reply made{.status = 204};
    made.headers.set(http::field::allow, methods_of(to));
    return made;
}

/// Names the ingestion paths. @param routes may contain only one kind.
reply no_such_path(std::string_view path, const route_table& routes) {
    std::string known;
    for (const route& each : routes.all())
        if (each.kind == route_kind::ingestion) known.append(known.empty() ? "" : ", ").append(each.path);
    const bool has_overview = routes.find("/") != nullptr;
    return rejection(reject_reason::unknown_path, 404,
                     fmt::format("no such path: {}; {}{}; {}", shown_in_answer(path),
                                 known.empty() ? "remote write goes to another address" : "remote write goes to ",
                                 known, has_overview ? "/ says what there is" : "nothing else is at this address"));
}

std::optional<reply> fault_in(const request_header& header, std::optional<std::uint64_t> content_length,
                              const route* to, const request_bounds& bounds) {
    if (const std::string_view fault = fault_of(header, bounds.tenant_header); !fault.empty()) {
        reply made = malformed_http(fault);
        made.close = true;
        return made;
    }
    if (const std::string_view fault = site_fault_of(header, bounds.hosts); !fault.empty())
        return rejection(reject_reason::forbidden, 403, std::string{fault});
    if (auto answered = answer_to_probe(header, to)) return answered;
    if (to == nullptr) return no_such_path(path_of(header.target()), bounds.routes);
    if (!is_allowed(header.method_string(), to->methods)) return wrong_method(header.method_string(), *to);
    if (!content_length) return std::nullopt;
    if (*content_length > bounds.body_bytes_max) return body_too_large(bounds.body_bytes_max, content_length);
    // Bytes are reserved when they arrive. Announced bytes may never come, and must not keep others out.
    if (!bounds.memory.has_room(*content_length)) return overloaded(bounds.memory.use());
    return std::nullopt;
}

/// On overload the connection stays if at most this much of its body is unread: a new connection costs more.
constexpr std::uint64_t unread_bytes_max = 1 << 20;

std::string progress_of(const incoming_request& current) {
    if (!current.parser.is_header_done()) return "its header is not complete";
    const std::size_t bytes = current.parser.get().body().size();
    const auto announced = current.parser.content_length();
    return announced ? fmt::format("{} of {} of its body came", bytes, counted(*announced, "byte"))
                     : fmt::format("{} of its body came", counted(bytes, "byte"));
}

/// 503, because the sender may try again: Prometheus drops data answered with 408.
reply too_slow(worker& thread, const incoming_request& current) {
    const std::string progress = progress_of(current);
    const server_config& bounds = thread.shared.settings;
    const bool in_header = !current.parser.is_header_done() && bounds.header_timeout < bounds.read_timeout;
    return with_retry_after(rejection(
        reject_reason::timeout, 503,
        thread.senders.shortened_timeouts()
            ? "shutting down: request not complete, " + progress
            : fmt::format("request not complete within server.{} ({}): {}", in_header ? "headerTimeout" : "readTimeout",
                          format_duration(in_header ? bounds.header_timeout : bounds.read_timeout), progress)));
}

/// The answer to a request whose reading failed.
reply unreadable(worker& thread, const incoming_request& current, error_code error) {
    if (error == boost::beast::error::timeout) return too_slow(thread, current);
    if (error == net::error::no_memory) return overloaded(current.memory.use());
    return is_invalid_http(error) ? malformed_http(error.message()) : gone();
}

/// So much of a header takes no room, as the buffers of a connection do not: then health and figures are answered
/// however much is held.
constexpr std::size_t header_bytes_free = 4 * 1024;

/// Bounds a header, and reserves its bytes beyond the free ones.
struct charged_meter : header_meter {
    inflight_lease& memory;

    charged_meter(std::size_t bytes_max, inflight_lease& lease) : header_meter(bytes_max), memory(lease) {}

    error_code take(std::string_view fresh) {
        const std::size_t before = charged();
        if (const error_code error = header_meter::take(fresh)) return error;
        const std::size_t more = charged() - before;
        return more == 0 || memory.grow(more) ? error_code{} : error_code{net::error::no_memory};
    }
    [[nodiscard]] std::size_t charged() const noexcept { return bytes() - std::min(bytes(), header_bytes_free); }
};

bool begins_with_proxy_header(const flat_buffer& begin) {
    constexpr std::size_t telling_bytes = 6;  // empty lines have fewer
    return begin.size() >= telling_bytes && parse_proxy_header(text_of(begin)).state != proxy_header_state::absent;
}

net::awaitable<std::optional<reply>> read_header(served_connection& peer, incoming_request& current) {
    const server_config& bounds = peer.thread.shared.settings;
    peer.allow(std::min(bounds.header_timeout, bounds.read_timeout));
    charged_meter meter{bounds.header_bytes_max, current.memory};
    const error_code error = co_await read_header(peer.stream, peer.buffer, current.parser, meter);
    if (error == http::error::header_limit) co_return header_too_large(bounds.header_bytes_max);
    if (error && is_invalid_http(error) && begins_with_proxy_header(peer.buffer))
        co_return malformed_http(
            "a PROXY header, which the gate takes once, with server.proxyProtocol, and from server.trustedProxies");
    if (error) co_return unreadable(peer.thread, current, error);
    current.keep_alive = current.parser.keep_alive();
    current.header = std::move(current.parser.get().base());
    co_return std::nullopt;
}

/// 503 at maxQueueDelay if requests wait too long, see queue_delay.
std::optional<reply> rejected_for_delay(const worker& thread, const incoming_request& current) {
    if (!thread.delay.is_standing(current.began)) return std::nullopt;
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(thread.delay.late(current.began));
    return with_retry_after(
        rejection(reject_reason::queue_delay, 503,
                  fmt::format("over server.maxQueueDelay ({}): requests have waited for {} before they "
                              "were worked on; try again",
                              format_duration(thread.shared.settings.queue_delay_max), format_duration(waited))));
}

bool is_for_overload(const reply& rejected) {
    return rejected.rejected == reject_reason::overloaded || rejected.rejected == reject_reason::queue_delay;
}

/// Whether the sender sends the whole body anyway, and reading it is cheaper than a new connection.
bool is_body_short(const incoming_request& current) {
    const auto announced = current.parser.content_length_remaining();
    return announced && *announced <= unread_bytes_max && !expects_continue(current.header);
}

/// Decides by the header. @return the answer to a rejected request or a probe.
std::optional<reply> check(const served_connection& peer, incoming_request& current) {
    const request_bounds bounds{.routes = peer.offered.routes,
                                .tenant_header = peer.thread.shared.tenant_header,
                                .hosts = peer.thread.shared.settings.hosts,
                                .body_bytes_max = peer.thread.shared.settings.body_bytes_max,
                                .memory = current.memory};
    std::optional<std::uint64_t> announced;
    if (const auto length = current.parser.content_length()) announced = *length;
    header_verdict verdict = check_header(current.header, announced, bounds);
    current.to = verdict.to;
    current.is_probe = verdict.is_probe;
    // Access rules, limits and store see the path's tenant as if it came from the header.
    if (!verdict.tenant.empty() && !verdict.answer)
        current.header.set(peer.thread.shared.tenant_header, verdict.tenant);
    if (!verdict.answer && current.is_ingestion()) verdict.answer = rejected_for_delay(peer.thread, current);
    if (verdict.answer) current.skips_body = is_for_overload(*verdict.answer) && is_body_short(current);
    return std::move(verdict.answer);
}

net::awaitable<bool> send_continue(served_connection& peer, const incoming_request& current) {
    if (!expects_continue(current.header)) co_return true;
    if (peer.buffer.size() != 0) co_return true;  // the body is already coming
    constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    const auto text = net::buffer(go_on);
    auto [error, bytes] = co_await net::async_write(peer.stream, text, no_throw);
    co_return !error;
}

void allow_rest(served_connection& peer, const incoming_request& current) {
    const timed_stream::clock::duration limit = peer.thread.shared.settings.read_timeout;
    peer.allow(limit - (timed_stream::clock::now() - current.began));
}

/// Reads the body, at most server.maxRequestBytes, within the rest of server.readTimeout.
net::awaitable<std::optional<reply>> read_body(served_connection& peer, incoming_request& current) {
    const server_config& bounds = peer.thread.shared.settings;
    const std::string& body = current.parser.get().body();
    std::size_t counted = 0;
    while (!current.parser.is_done()) {
        const error_code error = co_await read_body_some(peer.stream, peer.buffer, current.parser);
        if (error) co_return unreadable(peer.thread, current, error);
        if (body.size() > bounds.body_bytes_max) co_return body_too_large(bounds.body_bytes_max);
        if (!current.memory.grow(body.size() - counted)) {
            reply rejected = overloaded(current.memory.use());
            std::string{}.swap(current.parser.get().body());
            current.memory.release();
            co_return rejected;
        }
        counted = body.size();
    }
    current.parser.get().base().clear();  // drop trailers
    co_return std::nullopt;
}

}  // namespace

header_verdict check_header(const request_header& header, std::optional<std::uint64_t> content_length,
                            const request_bounds& bounds) {
    header_verdict made;
    made.to = find_route(header, bounds.routes, made.tenant);
    made.answer = fault_in(header, content_length, made.to, bounds);
    if (!made.answer) made.answer = two_tenants(header, made, bounds.tenant_header);
    made.is_probe = made.answer && is_success(made.answer->status);
    return made;
}

net::awaitable<std::optional<reply>> receive(served_connection& peer, incoming_request& current) {
    auto rejected = co_await read_header(peer, current);
    if (!rejected) {
        if (peer.is_of_proxy)
            current.proxied_for = forwarded_sender(current.header, peer.thread.shared.settings.trusted_proxies);
        rejected = check(peer, current);
        const bool is_sound = !rejected || !rejected->close;
        if (is_sound && peer.thread.shared.access.asks()) {
            // Before any further error, so that strangers learn nothing.
            auto denied =
                co_await authenticate(current.header, current.to, peer, sender_of(current, peer), current.who);
            if (denied) {
                rejected = std::move(denied);
                current.skips_body = false;  // close instead of reading on for an unauthorized sender
            }
        }
    }
    if (!rejected) {
        allow_rest(peer, current);  // the check of a password may have taken the header's time
        const bool going_on = co_await send_continue(peer, current);
        if (!going_on) co_return gone();
        rejected = co_await read_body(peer, current);
    }
    // Unread bytes would look like the next request.
    if (rejected && !current.skips_body) rejected->close = rejected->close || !current.parser.is_done();
    co_return rejected;
}

net::awaitable<bool> skip_rest(served_connection& peer, incoming_request& current) {
    allow_rest(peer, current);
    while (!current.parser.is_done()) {
        const error_code error = co_await read_body_some(peer.stream, peer.buffer, current.parser);
        if (error) co_return false;
        current.parser.get().body().clear();
    }
    co_return true;
}

}  // namespace seriesgate
