#include "upstream/client.hpp"

#include <array>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <utility>

#include "net/message_reading.hpp"
#include "upstream/headers.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// An upstream that does not accept within this is as good as down, however long it may take to answer.
constexpr auto connect_limit = 5s;
constexpr std::chrono::nanoseconds resolve_interval = 30s;
constexpr std::chrono::nanoseconds resolve_retry = 1s;
constexpr auto maintenance_interval = 1s;
/// Stores close idle connections after one to two minutes; be first.
constexpr auto idle_age_max = 45s;
/// 103 Early Hints comes once or twice; no store sends more than a few.
constexpr unsigned interim_answers_max = 16;
constexpr unsigned switching_protocols = 101;

using outgoing_message = http::request<http::span_body<const char>>;
using answer_parser = http::response_parser<http::buffer_body>;

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

/// Reads the body, at most response_bytes_max of it; the parser is not done if there is more.
net::awaitable<error_code> read_body(timed_stream& stream, flat_buffer& buffer, answer_parser& parser,
                                     std::string& body) {
    std::array<char, 8192> chunk;
    while (!parser.is_done() && body.size() < response_bytes_max) {
        auto& room = parser.get().body();
        room.data = chunk.data();
        room.size = chunk.size();
        const error_code error = co_await read_body_some(stream, buffer, parser);
        body.append(chunk.data(), chunk.size() - room.size);
        if (error && error != http::error::need_buffer) co_return error;
    }
    co_return error_code{};
}

}  // namespace

/// How one try on one connection ended.
struct upstream_client::attempt {
    std::optional<upstream_answer> answer;
    bool answer_began = false;
    bool timed_out = false;
    bool reusable = false;
};

upstream_client::upstream_client(net::io_context& io, const upstream_config& settings, upstream_metrics& metrics)
    : settings_(settings), metrics_(metrics), resolver_(io) {
    error_code no_address;
    const auto address = net::ip::make_address(settings_.host, no_address);
    if (no_address) return;  // a name, for maintain() to look up
    endpoints_ = {tcp::endpoint{address, settings_.port}};
    resolve_due_ = time_limit::max();
    resolve_ended_ = true;
}

net::awaitable<void> upstream_client::maintain() {
    net::steady_timer timer{resolver_.get_executor()};
    for (;;) {
        if (!resolving_ && std::chrono::steady_clock::now() >= resolve_due_) resolve();
        pool_.close_idle(idle_age_max);
        timer.expires_after(maintenance_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

/// Nobody waits for the answer, for no clock ends a resolver that hangs: what it knew before stays in use.
void upstream_client::resolve() {
    resolving_ = true;
    const auto take = [this](error_code error, const tcp::resolver::results_type& found) {
        resolving_ = false;
        resolve_ended_ = true;
        resolve_due_ = std::chrono::steady_clock::now() + (error ? resolve_retry : resolve_interval);
        if (error) return;
        endpoints_.clear();
        for (const auto& entry : found) endpoints_.push_back(entry.endpoint());
    };
    resolver_.async_resolve(settings_.host, std::to_string(settings_.port), take);
}

/// Only the first requests after a start can come before the first answer of the resolver, so asking again is enough.
net::awaitable<void> upstream_client::wait_for_addresses(time_limit limit) {
    net::steady_timer timer{resolver_.get_executor()};
    while (!resolve_ended_ && std::chrono::steady_clock::now() < limit) {
        timer.expires_after(10ms);
        co_await timer.async_wait(no_throw);
    }
}

net::awaitable<bool> upstream_client::connect(timed_stream& stream, time_limit limit) {
    co_await wait_for_addresses(limit);
    const auto endpoints = endpoints_;  // a copy: they may be resolved anew while we connect
    for (const tcp::endpoint& endpoint : endpoints) {
        stream.close();
        stream.expires_at(std::min(limit, std::chrono::steady_clock::now() + connect_limit));
        auto [error] = co_await stream.async_connect(endpoint, no_throw);
        if (error) continue;
        stream.no_delay();
        co_return true;
    }
    co_return false;
}

net::awaitable<upstream_client::attempt> upstream_client::exchange(timed_stream& stream,
                                                                   const upstream_request& request, time_limit limit) {
    attempt made;
    stream.expires_at(limit);
    outgoing_message message = make_message(settings_, request);
    auto [write_error, written] = co_await http::async_write(stream, message, no_throw);
    static_cast<void>(written);

    // A store that refuses early may answer before it has read everything: look for an answer even so.
    flat_buffer buffer{read_buffer_bytes_max};
    for (unsigned interim = 0; interim <= interim_answers_max; ++interim) {
        answer_parser parser;
        header_meter meter;
        const error_code failed = co_await read_header(stream, buffer, parser, meter);
        made.timed_out = failed == boost::beast::error::timeout;
        made.answer_began = made.answer_began || meter.bytes() != 0;
        if (failed) co_return made;
        // What follows the header is not part of it: neither of what it says, nor of what goes on to the sender.
        upstream_answer answer{
            .status = parser.get().result_int(), .headers = std::move(parser.get().base()), .body = {}};
        const bool keeps_alive = parser.keep_alive();
        if (answer.status < 100 || answer.status == switching_protocols || answer.status > 599) co_return made;
        if (answer.status < 200) continue;  // the answer is still to come

        const error_code broken = co_await read_body(stream, buffer, parser, answer.body);
        made.timed_out = broken == boost::beast::error::timeout;
        if (broken) co_return made;
        made.reusable = parser.is_done() && keeps_alive && !write_error && buffer.size() == 0;
        made.answer = std::move(answer);
        co_return made;
    }
    co_return made;
}

net::awaitable<result<upstream_answer, upstream_error_reason>> upstream_client::post(upstream_request request) {
    const time_limit limit = std::chrono::steady_clock::now() + settings_.timeout;
    for (std::optional<upstream_connection> connection = pool_.take();; connection.reset()) {
        const bool reused = connection.has_value();
        if (!reused) {
            connection.emplace(tcp::socket{resolver_.get_executor()}, metrics_.upstream_connections);
            const bool connected = co_await connect(connection->stream, limit);
            if (!connected) co_return upstream_error_reason::unreachable;
        }
        metrics_.upstream_sent_bytes.add(request.body.size());
        attempt made = co_await exchange(connection->stream, request, limit);
        if (made.answer) {
            if (made.reusable) pool_.give(std::move(*connection));
            co_return std::move(*made.answer);
        }
        if (made.timed_out) co_return upstream_error_reason::timeout;
        if (!reused || made.answer_began) co_return upstream_error_reason::broken;
    }
}

}  // namespace seriesgate
