#include "upstream/query_client.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

#include "base/clock.hpp"
#include "config/endpoint.hpp"
#include "config/version.hpp"
#include "core/path_tenant.hpp"
#include "core/text.hpp"
#include "net/http_fields.hpp"
#include "net/http_messages.hpp"
#include "net/tls_session.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

using message = http::request<http::string_body>;

using namespace std::chrono_literals;

constexpr auto connect_time = 10s;
/// Stores end queries after one or two minutes by themselves.
constexpr auto query_time = 150s;
constexpr std::size_t shown_max = 1'000;

std::string form_of(const store_query& asked) {
    std::string form;
    for (const auto& [name, value] : asked.arguments) {
        if (!form.empty()) form += '&';
        form.append(name).append("=").append(boost::urls::encode(value, boost::urls::unreserved_chars));
    }
    return form;
}

/// The root's path without a slash at its end, with the tenant in its place.
std::string root_of(const store_backend& backend, std::string_view tenant) {
    std::string path = backend.target.reveal();
    if (const auto mark = find_tenant_mark(path)) path = std::string{mark->before}.append(tenant).append(mark->behind);
    while (path.ends_with('/')) path.pop_back();
    return path;
}

/// Prometheus answers 422 and 503 to queries that need too much, with an error in JSON; VictoriaMetrics, Mimir and
/// Thanos 422. A store that starts answers 503 without one.
query_end end_of(unsigned status, bool says_why) {
    const auto is_one_of = [status](auto... codes) { return ((status == codes) || ...); };
    // 400 also for a query whose text is too long
    if (is_one_of(400u, 413u, 422u, 504u) || (status == 503 && says_why)) return query_end::too_much;
    return is_one_of(429u, 500u, 502u, 503u) ? query_end::busy : query_end::rejected;
}

}  // namespace

query_client::query_client(net::io_context& io, const store_config& store, const std::string& key,
                           std::string_view tenant_header)
    : io_(io), backend_(store.backends.front()), tenant_header_(tenant_header), access_(store, key) {}

/// @return the error; empty if connected.
net::awaitable<std::string> query_client::connect(time_limit limit) {
    auto found = co_await endpoints_of(io_, backend_.host, backend_.port, limit);
    if (!found) co_return found.error();
    const session_maker make_session = [this] {
        return backend_.tls ? access_.make_session(access_.tls(), backend_) : nullptr;
    };
    co_return co_await open_first(io_, *std::move(found), make_session, limit, stream_);
}

/// A text of the store as a line, without our secrets.
std::string query_client::shown(const std::string& text) const {
    return without_middle(readable(access_.without_secrets(text)), {.head = shown_max, .tail = 0}, "");
}

query_client::attempt query_client::broken(const std::string& why, bool unheard) {
    stream_.reset();
    return {.got = {.how = query_end::busy, .why = why}, .unheard = unheard};
}

net::awaitable<query_client::attempt> query_client::exchange(const store_query& asked, query_answer& into,
                                                             time_limit limit) {
    std::string target = root_of(backend_, asked.tenant).append(asked.path);
    std::string form = form_of(asked);
    if (!asked.is_post) target.append("?").append(form);
    message sent{asked.is_post ? http::verb::post : http::verb::get, target, 11};
    sent.set(http::field::host, backend_.authority);
    sent.set(http::field::user_agent, "seriesgate/" + std::string{version()});
    if (asked.is_post) {
        sent.set(http::field::content_type, "application/x-www-form-urlencoded");
        sent.body() = std::move(form);
    }
    if (!asked.tenant.empty() && !has_tenant_mark(backend_)) sent.set(tenant_header_, asked.tenant);
    access_.put_into(sent);
    sent.prepare_payload();
    stream_->expires_at(limit);
    if (const error_code unsent = co_await write_message(*stream_, sent))
        co_return broken(broken_text(unsent), unsent != boost::beast::error::timeout);

    flat_buffer buffer{read_buffer_bytes_max};
    http::response_parser<http::buffer_body> parser;
    header_meter meter;
    if (const error_code unread = co_await read_header(*stream_, buffer, parser, meter))
        co_return broken(broken_text(unread), meter.bytes() == 0 && unread != boost::beast::error::timeout);
    const unsigned status = parser.get().result_int();
    const bool keeps_alive = parser.keep_alive();
    std::array<char, 16'384> piece;
    while (!parser.is_done()) {
        auto& room = parser.get().body();
        room.data = piece.data();
        room.size = piece.size();
        const error_code error = co_await read_body_some(*stream_, buffer, parser);
        if (!into.write({piece.data(), piece.size() - room.size})) break;
        if (error && error != http::error::need_buffer) co_return broken(broken_text(error), false);
        co_await net::post(io_, net::use_awaitable);
    }
    if (!parser.is_done() || !keeps_alive || buffer.size() != 0) stream_.reset();

    attempt made;
    const std::string fault = into.fault();
    made.got.warning = shown(into.warning());
    if (is_success(status) && fault.empty()) co_return made;
    const std::string& error = into.error();
    made.got.how = is_success(status) ? query_end::rejected : end_of(status, !error.empty());
    const std::string said = shown(error.empty() ? fault : error);
    if (is_success(status))
        made.got.why = said;
    else
        made.got.why = error.empty() ? "it answers " + std::to_string(status) : std::to_string(status) + ": " + said;
    co_return made;
}

net::awaitable<query_outcome> query_client::ask(const store_query& asked, query_answer& into, time_limit limit) {
    limit = std::min(limit, monotonic_clock::now() + query_time);
    for (;;) {
        const bool is_kept = stream_.has_value() && stream_->is_quiet();
        if (!is_kept) {
            stream_.reset();
            std::string fault = co_await connect(std::min(limit, monotonic_clock::now() + connect_time));
            if (!fault.empty()) co_return query_outcome{.how = query_end::away, .why = std::move(fault)};
        }
        attempt made = co_await exchange(asked, into, limit);
        if (!is_kept || !made.unheard) co_return std::move(made.got);
    }
}

}  // namespace seriesgate
