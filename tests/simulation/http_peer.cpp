#include "simulation/http_peer.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <utility>

#include "core/text.hpp"
#include "ingest/requests.hpp"
#include "net/async.hpp"
#include "net/event_loop.hpp"
#include "net/http_fields.hpp"
#include "net/socket.hpp"

namespace seriesgate::testing {
namespace {

using namespace std::chrono_literals;

/// What no scene waits for: the gate has shorter limits.
constexpr auto peer_limit = 1h;
constexpr std::string_view header_end = "\r\n\r\n";

std::string_view value_of(const header_list& in, std::string_view name) {
    const auto found =
        std::ranges::find_if(in, [&name = name](const auto& each) { return equal_ignoring_case(each.first, name); });
    return found == in.end() ? std::string_view{} : std::string_view{found->second};
}

header_list headers_in(std::string_view lines) {
    header_list found;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find("\r\n"));
        const auto colon = line.find(':');
        if (colon != std::string_view::npos) found.emplace_back(line.substr(0, colon), trimmed(line.substr(colon + 1)));
        lines.remove_prefix(std::min(lines.size(), line.size() + 2));
    }
    return found;
}

std::size_t number_in(std::string_view text) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// The first line, the headers and the body of a message: what is sent here has a length, or ends with the connection.
struct raw_message {
    error_code error{};
    std::string first_line{};
    header_list headers{};
    std::string body{};
};

net::awaitable<error_code> read_piece(timed_stream& stream, std::string& unread) {
    char room[16384];
    const net::mutable_buffer into{room, sizeof room};
    auto [error, bytes] = co_await stream.async_read_some(into, no_throw);
    unread.append(room, bytes);
    co_return error;
}

net::awaitable<raw_message> read_message(timed_stream& stream, std::string& unread, bool has_no_body = false) {
    raw_message got;
    std::size_t end = 0;
    while ((end = unread.find(header_end)) == std::string::npos) {
        got.error = co_await read_piece(stream, unread);
        if (got.error) co_return got;
    }
    const std::string head = unread.substr(0, end + 2);
    unread.erase(0, end + header_end.size());
    const auto line_end = head.find("\r\n");
    got.first_line = head.substr(0, line_end);
    got.headers = headers_in(std::string_view{head}.substr(line_end + 2));
    if (has_no_body) co_return got;
    const std::size_t length = number_in(value_of(got.headers, "Content-Length"));
    while (unread.size() < length) {
        got.error = co_await read_piece(stream, unread);
        if (got.error) co_return got;
    }
    got.body = unread.substr(0, length);
    unread.erase(0, length);
    co_return got;
}

http_message with(http_message made, header_list more) {
    for (auto& [name, value] : more) {
        std::erase_if(made.headers, [&name = name](const auto& each) { return equal_ignoring_case(each.first, name); });
        made.headers.emplace_back(std::move(name), std::move(value));
    }
    return made;
}

}  // namespace

std::string_view http_answer::header(std::string_view name) const {
    return value_of(headers, name);
}

std::string_view http_message::header(std::string_view name) const {
    return value_of(headers, name);
}

std::string http_message::text() const {
    std::string out = method + " " + target + " HTTP/1.1\r\n";
    if (header("Host").empty()) out += "Host: gate\r\n";
    for (const auto& [name, value] : headers) out += name + ": " + value + "\r\n";
    const bool has_length = !header("Content-Length").empty() || !header("Transfer-Encoding").empty();
    if (!has_length && method != "GET" && method != "HEAD")
        out += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    return out + "\r\n" + body;
}

http_message write_request(std::string_view decoded, header_list more) {
    return with({.headers = {{"Content-Type", "application/x-protobuf"},
                             {"Content-Encoding", "snappy"},
                             {"User-Agent", "Prometheus/3.5.3"},
                             {"X-Prometheus-Remote-Write-Version", "0.1.0"}},
                 .body = compressed(compression::snappy, std::string{decoded})},
                std::move(more));
}

http_message write_request_v2(std::string_view decoded, header_list more) {
    header_list v2{{"Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"},
                   {"X-Prometheus-Remote-Write-Version", "2.0.0"}};
    for (auto& each : more) v2.push_back(std::move(each));
    return write_request(decoded, std::move(v2));
}

http_message get(std::string target) {
    return {.method = "GET", .target = std::move(target)};
}

stream_endpoint endpoint_of(std::string_view address_and_port) {
    const auto colon = address_and_port.rfind(':');
    const auto port = static_cast<std::uint16_t>(number_in(address_and_port.substr(colon + 1)));
    return tcp_endpoint(net::ip::make_address(std::string{address_and_port.substr(0, colon)}), port);
}

http_sender::http_sender(memory_network& network, net::io_context& io, std::string address, std::string to)
    : network_(network), io_(io), address_(std::move(address)), to_(std::move(to)) {}

net::awaitable<error_code> http_sender::connect() {
    network_.connect_from(address_);
    stream_ = std::make_unique<timed_stream>(stream_socket{io_});
    network_.connect_from(std::string{memory_network::gate_address});
    unread_.clear();
    stream_->expires_after(peer_limit);
    const auto to = endpoint_of(to_);
    auto [error] = co_await stream_->async_connect(to, no_throw);
    if (error) stream_.reset();
    co_return error;
}

net::awaitable<error_code> http_sender::write(std::string bytes, std::size_t piece, std::chrono::milliseconds rest) {
    if (!stream_) {
        const error_code failed = co_await connect();
        if (failed) co_return failed;
    }
    async_timer timer{io_};
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t size = std::min(piece, bytes.size() - at);
        stream_->expires_after(peer_limit);
        const auto part = net::buffer(bytes.data() + at, size);
        auto [error, sent] = co_await net::async_write(*stream_, part, no_throw);
        if (error) co_return error;
        at += sent;
        if (at == bytes.size() || rest == 0ms) continue;
        timer.expires_after(rest);
        co_await timer.async_wait(no_throw);
    }
    co_return error_code{};
}

net::awaitable<http_answer> http_sender::read_answer() {
    http_answer made;
    if (!stream_) co_return made;
    stream_->expires_after(peer_limit);
    raw_message got = co_await read_message(*stream_, unread_);
    if (got.error) {
        made.fault = got.error;
        stream_.reset();
        co_return made;
    }
    made.status = static_cast<unsigned>(number_in(got.first_line.substr(got.first_line.find(' ') + 1)));
    made.headers = std::move(got.headers);
    made.body = std::move(got.body);
    if (equal_ignoring_case(made.header("Connection"), "close")) stream_.reset();
    co_return made;
}

net::awaitable<http_answer> http_sender::send(http_message message) {
    const error_code failed = co_await write(message.text());
    if (failed && !stream_) co_return http_answer{.fault = failed};
    co_return co_await read_answer();  // also of a request that was answered before its end
}

void http_sender::reset() {
    if (stream_) static_cast<memory_end*>(stream_->virtual_end())->reset();
    stream_.reset();
}

scripted_store::scripted_store(net::io_context& io, std::string address) : io_(io), address_(std::move(address)) {
    come_back();
}

void scripted_store::come_back() {
    acceptor_.emplace(listen_at(io_, endpoint_of(address_)));
    spawn(io_.get_executor(), accept(), "the store's accepting failed");
}

void scripted_store::go_away() {
    if (acceptor_) acceptor_->close_quietly();
    for (const auto& each : connections_)
        if (const auto open = each.lock()) static_cast<memory_end*>(open->virtual_end())->reset();
    connections_.clear();
}

net::awaitable<void> scripted_store::accept() {
    for (;;) {
        auto came = co_await acceptor_->next(io_);
        if (came.error) co_return;
        auto stream = std::make_shared<timed_stream>(std::move(came.socket));
        connections_.push_back(stream);
        spawn(io_.get_executor(), serve(std::move(stream)), "the store's serving failed");
    }
}

net::awaitable<void> scripted_store::serve(std::shared_ptr<timed_stream> stream) {
    std::string unread;
    for (bool goes_on = true; goes_on;) {
        stream->expires_after(peer_limit);
        raw_message got = co_await read_message(*stream, unread);
        if (got.error) co_return;
        http_message made{.headers = std::move(got.headers), .body = std::move(got.body)};
        made.method = got.first_line.substr(0, got.first_line.find(' '));
        made.target = got.first_line.substr(made.method.size() + 1);
        made.target = made.target.substr(0, made.target.find(' '));
        store_reaction how = decides ? decides(made) : store_reaction{};
        received.push_back(std::move(made));
        goes_on = co_await react(*stream, std::move(how));
    }
}

net::awaitable<bool> scripted_store::react(timed_stream& stream, store_reaction how) {
    using kind = store_reaction::kind;
    if (how.delay != 0ms) {
        async_timer timer{io_, how.delay};
        co_await timer.async_wait(no_throw);
    }
    if (how.does == kind::closes) co_return false;
    if (how.does == kind::resets) {
        static_cast<memory_end*>(stream.virtual_end())->reset();
        co_return false;
    }
    if (how.does == kind::is_silent) {
        async_timer timer{io_, peer_limit};
        co_await timer.async_wait(no_throw);
        co_return false;
    }
    std::string text = "HTTP/1.1 " + std::to_string(how.status) + " X\r\n";
    if (how.status != 204) text += "Content-Length: " + std::to_string(how.body.size()) + "\r\n";
    text += "\r\n" + how.body;
    if (how.does == kind::says_raw) text = how.body;
    if (how.does == kind::closes_midway) text.resize(text.size() / 2);
    stream.expires_after(peer_limit);
    const auto all = net::buffer(text);
    auto [error, bytes] = co_await net::async_write(stream, all, no_throw);
    static_cast<void>(bytes);
    if (!error && how.has_said) how.has_said();
    co_return !error && how.does == kind::answers;
}

}  // namespace seriesgate::testing
