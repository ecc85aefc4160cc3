#include "upstream/client.hpp"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>

#include "upstream/deadline.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// An upstream that does not accept within this is as good as down, however long it may take to answer.
constexpr auto connect_limit = 5s;
constexpr auto resolve_interval = 30s;
constexpr auto resolve_retry = 1s;
/// Stores close idle connections after one to two minutes; be first.
constexpr auto idle_age_max = 45s;
constexpr std::uint32_t header_bytes_max = 64 * 1024;

using outgoing_message = http::request<http::span_body<const char>>;

outgoing_message make_message(const upstream_config& settings, const upstream_request& request) {
    std::string target = settings.target;
    if (!request.query.empty()) {
        target += target.find('?') == std::string::npos ? '?' : '&';
        target += request.query;
    }
    outgoing_message message{http::verb::post, target, 11};
    const auto host = request.headers.find(http::field::host);
    const bool keeps_host = settings.host_header == upstream_host::sender && host != request.headers.end();
    message.set(http::field::host, keeps_host ? host->value() : boost::beast::string_view{settings.authority});
    copy_end_to_end(request.headers, message, request.tenant_header);
    if (request.body_changed) {
        drop_body_digests(message);
        message.erase(http::field::accept_encoding);  // the answer may get a line of ours
    }
    if (request.translated) {
        message.set(http::field::content_type, "application/x-protobuf");
        message.set("X-Prometheus-Remote-Write-Version", "0.1.0");
    }
    add_via(message);
    message.body() = {request.body.data(), request.body.size()};
    message.content_length(request.body.size());
    return message;
}

}  // namespace

/// How one try on one connection ended.
struct upstream_client::attempt {
    std::optional<upstream_answer> answer;
    bool answer_began = false;
    bool timed_out = false;
    bool reusable = false;
};

upstream_client::upstream_client(net::io_context& io, const upstream_config& settings, gate_metrics& metrics)
    : settings_(settings), metrics_(metrics), resolver_(io) {}

net::awaitable<void> upstream_client::maintain() {
    net::steady_timer timer{resolver_.get_executor()};
    for (;;) {
        co_await resolve();
        pool_.close_idle(idle_age_max);
        timer.expires_after(endpoints_.empty() ? std::chrono::nanoseconds{resolve_retry}
                                               : std::chrono::nanoseconds{resolve_interval});
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

net::awaitable<void> upstream_client::resolve() {
    error_code no_address;
    const auto address = net::ip::make_address(settings_.host, no_address);
    if (!no_address) {
        endpoints_ = {tcp::endpoint{address, settings_.port}};
    } else {
        const std::string port = std::to_string(settings_.port);
        auto [error, found] = co_await resolver_.async_resolve(settings_.host, port, no_throw);
        // An answer that failed leaves the old addresses: better than none.
        if (!error) {
            endpoints_.clear();
            for (const auto& entry : found) endpoints_.push_back(entry.endpoint());
        }
    }
    resolve_ended_ = true;
}

/// Only the first requests after a start can come before the first answer of the resolver, so asking again is enough.
net::awaitable<void> upstream_client::wait_for_addresses(time_limit limit) {
    net::steady_timer timer{resolver_.get_executor()};
    while (!resolve_ended_ && std::chrono::steady_clock::now() < limit) {
        timer.expires_after(10ms);
        co_await timer.async_wait(no_throw);
    }
}

net::awaitable<bool> upstream_client::connect(tcp::socket& socket, time_limit limit) {
    co_await wait_for_addresses(limit);
    if (endpoints_.empty()) co_return false;
    const auto endpoints = endpoints_;  // a copy: they may be resolved anew while we connect
    for (const tcp::endpoint& endpoint : endpoints) {
        error_code ignored;
        socket.close(ignored);
        deadline time{socket};
        time.expires_at(std::min(limit, std::chrono::steady_clock::now() + connect_limit));
        auto [error] = co_await socket.async_connect(endpoint, no_throw);
        if (error) continue;
        socket.set_option(tcp::no_delay{true}, ignored);
        co_return true;
    }
    co_return false;
}

net::awaitable<upstream_client::attempt> upstream_client::exchange(tcp::socket& socket, const upstream_request& request,
                                                                   time_limit limit) {
    attempt made;
    deadline time{socket};
    time.expires_at(limit);

    outgoing_message message = make_message(settings_, request);
    auto [write_error, written] = co_await http::async_write(socket, message, no_throw);
    static_cast<void>(written);
    made.timed_out = time.expired();
    // A store that refuses early may answer before it has read everything: look for an answer even so.
    if (made.timed_out) co_return made;

    boost::beast::flat_buffer buffer;
    std::array<char, 8192> chunk;
    for (;;) {
        http::response_parser<http::buffer_body> parser;
        parser.header_limit(header_bytes_max);
        parser.body_limit(boost::none);
        auto [header_error, header_bytes] = co_await http::async_read_header(socket, buffer, parser, no_throw);
        made.timed_out = time.expired();
        made.answer_began = made.answer_began || header_bytes != 0 || buffer.size() != 0;
        if (header_error) co_return made;
        const unsigned status = parser.get().result_int();
        if (status / 100 == 1) continue;                   // interim, the answer is still to come
        if (status < 200 || status > 599) co_return made;  // not HTTP

        upstream_answer answer;
        while (!parser.is_done() && answer.body.size() < response_bytes_max) {
            parser.get().body().data = chunk.data();
            parser.get().body().size = chunk.size();
            auto [error, bytes] = co_await http::async_read(socket, buffer, parser, no_throw);
            static_cast<void>(bytes);
            answer.body.append(chunk.data(), chunk.size() - parser.get().body().size);
            if (error && error != http::error::need_buffer) {
                made.timed_out = time.expired();
                co_return made;
            }
        }
        answer.status = status;
        made.reusable = parser.is_done() && parser.keep_alive() && !write_error && buffer.size() == 0;
        answer.headers = std::move(parser.release().base());
        made.answer = std::move(answer);
        co_return made;
    }
}

net::awaitable<result<upstream_answer, upstream_error_reason>> upstream_client::post(upstream_request request) {
    const time_limit limit = std::chrono::steady_clock::now() + settings_.timeout;
    for (std::optional<upstream_connection> connection = pool_.take();; connection.reset()) {
        const bool reused = connection.has_value();
        if (!reused) {
            connection.emplace(tcp::socket{resolver_.get_executor()}, metrics_.upstream_connections);
            const bool connected = co_await connect(connection->socket, limit);
            if (!connected) co_return upstream_error_reason::unreachable;
        }
        metrics_.upstream_sent_bytes.add(request.body.size());
        attempt made = co_await exchange(connection->socket, request, limit);
        if (made.answer) {
            if (made.reusable) pool_.give(std::move(*connection));
            co_return std::move(*made.answer);
        }
        if (made.timed_out) co_return upstream_error_reason::timeout;
        if (!reused || made.answer_began) co_return upstream_error_reason::broken;
    }
}

}  // namespace seriesgate
