#include "net/timed_stream.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/system/system_error.hpp>
#include <new>

#include "base/clock.hpp"

namespace seriesgate {

tls_layer::~tls_layer() {
    if (session_ && socket_) close_send();
}

error_code tls_layer::hindrance(operation kind) const {
    if (socket_->expired()) return boost::beast::error::timeout;
    if (cut_off_ && kind == operation::write) return net::error::broken_pipe;
    return {};
}

void tls_layer::post(erased_handler handler, error_code error, std::size_t bytes) {
    net::post(socket_->get_executor(),
              [handler = std::move(handler), error, bytes]() mutable { handler(error, bytes); });
}

void tls_layer::handshake(erased_handler handler) {
    if (const error_code error = hindrance(operation::write)) return post(std::move(handler), error);
    go_on({purpose::handshake, std::move(handler)});
}

void tls_layer::read_some(net::mutable_buffer into, erased_handler handler) {
    const error_code error = hindrance(operation::read);
    if (error || into.size() == 0) return post(std::move(handler), error);
    into_ = into;
    go_on({purpose::read, std::move(handler)});
}

void tls_layer::write_some(net::const_buffer plain, erased_handler handler) {
    const error_code error = hindrance(operation::write);
    if (error || plain.size() == 0) return post(std::move(handler), error);
    pending one{purpose::write, std::move(handler), true, plain.size()};
    error_code failed;
    try {
        if (session_->write(plain) == tls_step::failed) failed = tls_error::failed;
    } catch (const std::bad_alloc&) {
        failed = net::error::no_memory;
    }
    if (failed) return end(std::move(one), failed);
    spoken_ = false;
    send(std::move(one));
}

void tls_layer::close_send() noexcept {
    if (sends_ || cut_off_) return;
    cut_off_ = true;
    try {
        session_->close();
        send_now();
    } catch (const std::bad_alloc&) {  // the peer gets no close_notify
    }
}

bool tls_layer::is_quiet() {
    while (session_->is_drained()) {
        const error_code none = receive();
        if (none) {
            session_->rest();
            return none == net::error::would_block;
        }
    }
    return false;
}

/// Takes steps until the operation ends, or waits for the peer.
void tls_layer::go_on(pending one) {
    attempt came;
    try {
        came = attempt_at(one.what);
    } catch (const std::bad_alloc&) {
        came.error = net::error::no_memory;
    }
    if (came.needs == need::output_sent) return send(std::move(one));
    if (came.needs == need::input) return await_input(std::move(one));
    end(std::move(one), came.error, came.bytes);
}

tls_layer::attempt tls_layer::attempt_at(purpose what) {
    for (;;) {
        // A step without output may be repeated.
        const auto [came, bytes] =
            what == purpose::handshake ? tls_session::read_outcome{session_->handshake(), 0} : session_->read(into_);
        if (what == purpose::read) {
            send_now();
        } else if (session_->output().size() != 0) {
            return {.needs = need::output_sent};
        }
        if (came == tls_step::failed) return {.error = tls_error::failed};
        if (came == tls_step::closed && what == purpose::read) return {.error = net::error::eof};
        if (came != tls_step::wants_input) return {.bytes = bytes};
        const error_code none = socket_->expired() ? error_code{boost::beast::error::timeout} : receive();
        if (none == net::error::would_block) return {.needs = need::input};
        if (none) return {.error = none};
    }
}

void tls_layer::await_input(pending one) {
    session_->rest();
    pending kept = one;
    try {
        return socket_->wait_readable([this, one = std::move(one)](error_code error) mutable {
            one.begins = false;
            if (error) return end(std::move(one), error);
            go_on(std::move(one));
        });
    } catch (const std::bad_alloc&) {  // not started
    }
    end(std::move(kept), net::error::no_memory);
}

/// Sends all output, including output added meanwhile.
void tls_layer::send(pending one) {
    const net::const_buffer output = session_->output();
    if (output.size() == 0) return go_on_sent(std::move(one), {});
    pending kept = one;
    sends_ = true;
    try {
        return socket_->write_some(output, [this, one = std::move(one)](error_code error, std::size_t bytes) mutable {
            one.begins = false;
            sends_ = false;
            session_->sent_output(bytes);
            if (error) return go_on_sent(std::move(one), error);
            send(std::move(one));
        });
    } catch (const std::bad_alloc&) {  // not started
    }
    sends_ = false;
    go_on_sent(std::move(kept), net::error::no_memory);
}

void tls_layer::go_on_sent(pending one, error_code error) {
    if (error) return end(std::move(one), error);
    if (one.what != purpose::write) return go_on(std::move(one));
    const std::size_t bytes = one.writes;
    end(std::move(one), {}, bytes);
}

/// Must be the last call for an operation: the handler may destroy this object.
void tls_layer::end(pending one, error_code error, std::size_t bytes) {
    if (error && one.what != purpose::read) cut_off_ = true;
    if (one.begins) return post(std::move(one.handler), error, bytes);
    one.handler(error, bytes);
}

/// Sends a reader's output (warnings, answers to key changes) at once, or else with the next write.
void tls_layer::send_now() {
    while (!sends_) {
        const net::const_buffer output = session_->output();
        if (output.size() == 0) return;
        error_code error;
        const std::size_t bytes = socket_->socket().write_at_once(net::const_buffer{output}, error);
        if (error) return;
        spoken_ = true;
        session_->sent_output(bytes);
    }
}

error_code tls_layer::receive() {
    const net::mutable_buffer room = session_->input_room();
    if (room.size() == 0) return net::error::no_memory;
    error_code error;
    const std::size_t bytes = socket_->socket().read_at_once(room, error);
    if (error == net::error::eof) {
        session_->cut_off();
        return tls_error::truncated;
    }
    if (error) return error;
    session_->take_input(bytes);
    return {};
}

net::awaitable<std::optional<connect_fault>> open_stream(timed_stream& stream, const stream_endpoint& to,
                                                         const session_maker& make_session) {
    const auto fault = [](error_code error, bool in_handshake, const std::string& what, std::string why = {}) {
        if (why.empty()) why = error == boost::beast::error::timeout ? "no answer in time" : error.message();
        return connect_fault{.error = error, .in_handshake = in_handshake, .text = what + ": " + why};
    };
    auto [error] = co_await stream.async_connect(to, no_throw);
    if (error) co_return fault(error, false, "connecting to " + endpoint_text(to));
    stream.no_delay();
    std::unique_ptr<tls_session> session;
    try {
        session = make_session();
    } catch (const boost::system::system_error& bad_name) {
        co_return fault(bad_name.code(), true, "TLS with " + endpoint_text(to), bad_name.what());
    }
    if (!session) co_return std::nullopt;
    stream.start_tls(std::move(session));
    auto [failed] = co_await stream.async_handshake(no_throw);
    if (!failed) co_return std::nullopt;
    co_return fault(failed, true, "TLS with " + endpoint_text(to), stream.tls()->failure());
}

net::awaitable<result<std::vector<stream_endpoint>, std::string>> endpoints_of(
    net::io_context& io, std::string host, std::uint16_t port, std::chrono::steady_clock::time_point limit) {
    using found_or_not = result<std::vector<stream_endpoint>, std::string>;
    error_code no_address;
    const auto address = net::ip::make_address(host, no_address);
    if (!no_address) co_return found_or_not{std::vector(1, tcp_endpoint(address, port))};
    awaited<result<std::vector<stream_endpoint>, error_code>> looked_up{io};
    name_resolver resolver{io};
    resolver.look_up(host, port, [give = looked_up.to_give()](error_code error, auto found) {
        if (error) return give(error);
        give(std::move(found));
    });
    auto got = co_await looked_up.wait(limit - monotonic_clock::now());
    const std::string fault = host + " does not resolve: ";
    if (!got) co_return found_or_not{fault + "no answer in time"};
    if (!*got) co_return found_or_not{fault + got->error().message()};
    if ((*got)->empty()) co_return found_or_not{host + " has no address"};
    co_return found_or_not{std::move(**got)};
}

net::awaitable<std::string> open_first(net::io_context& io, std::vector<stream_endpoint> endpoints,
                                       const session_maker& make_session, std::chrono::steady_clock::time_point limit,
                                       std::optional<timed_stream>& stream) {
    std::string fault;
    auto left = static_cast<std::ptrdiff_t>(endpoints.size());
    for (const stream_endpoint& each : endpoints) {
        const auto now = monotonic_clock::now();
        stream.emplace(stream_socket{io});
        stream->expires_at(now + (limit - now) / left--);
        auto failed = co_await open_stream(*stream, each, make_session);
        if (!failed) co_return std::string{};
        fault = std::move(failed->text);
    }
    stream.reset();
    co_return fault;
}

}  // namespace seriesgate
