#include "net/tls_layer.hpp"

#include <sys/socket.h>

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cerrno>
#include <new>
#include <utility>

#include "net/tls_error.hpp"

namespace seriesgate {

tls_layer::~tls_layer() {
    if (session_ && socket_ != nullptr) close_send();
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
    begin(purpose::handshake, std::move(handler));
}

void tls_layer::read_some(net::mutable_buffer into, erased_handler handler) {
    const error_code error = hindrance(operation::read);
    if (error || into.size() == 0) return post(std::move(handler), error);
    into_ = into;
    begin(purpose::read, std::move(handler));
}

void tls_layer::write_some(net::const_buffer plain, erased_handler handler) {
    const error_code error = hindrance(operation::write);
    if (error || plain.size() == 0) return post(std::move(handler), error);
    if (session_->write(plain) == tls_step::failed) return post(std::move(handler), tls_error::failed);
    assert(!writer_);
    writer_ = std::move(handler);
    writes_ = plain.size();
    spoken_ = false;
    send();
}

void tls_layer::shutdown(erased_handler handler) {
    if (const error_code error = hindrance(operation::write)) return post(std::move(handler), error);
    session_->close();
    begin(purpose::shutdown, std::move(handler));
}

void tls_layer::close_send() noexcept {
    if (sends_ || cut_off_) return;
    cut_off_ = true;
    try {
        session_->close();
        send_now();
    } catch (const std::bad_alloc&) {  // then the peer is not told
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

void tls_layer::begin(purpose what, erased_handler handler) {
    assert(!reader_);
    reader_ = std::move(handler);
    purpose_ = what;
    begins_ = true;
    go_on();
    begins_ = false;
}

/// Ends what began, or waits for what it needs and comes back.
void tls_layer::go_on() {
    for (;;) {
        std::size_t bytes = 0;
        const tls_step came = take_step(bytes);
        if (purpose_ == purpose::read) {
            send_now();
        } else if (session_->output().size() != 0) {
            return send();
        }
        if (came != tls_step::wants_input) return finish(came, bytes);
        const error_code none = receive();
        if (none == net::error::would_block) return await_input();
        if (none) return end(none);
    }
}

/// A step that had nothing to send comes to the same when it is taken again.
tls_step tls_layer::take_step(std::size_t& bytes) {
    if (purpose_ == purpose::handshake) return session_->handshake();
    if (purpose_ == purpose::read) {
        const auto came = session_->read(into_);
        bytes = came.bytes;
        return came.step;
    }
    std::array<char, 4096> lost;
    for (;;) {
        const auto came = session_->read(net::buffer(lost));
        if (came.step != tls_step::done) return came.step;
    }
}

void tls_layer::finish(tls_step came, std::size_t bytes) {
    if (came == tls_step::failed) return end(tls_error::failed);
    if (came == tls_step::closed && purpose_ == purpose::read) return end(net::error::eof);
    end({}, bytes);
}

void tls_layer::end(error_code error, std::size_t bytes) {
    if (error && purpose_ != purpose::read) cut_off_ = true;
    erased_handler handler = std::move(*reader_);
    reader_.reset();
    if (begins_) return post(std::move(handler), error, bytes);
    handler(error, bytes);
}

void tls_layer::await_input() {
    session_->rest();
    socket_->wait_readable([this](error_code error) {
        if (error) return end(error);
        go_on();
    });
}

/// Sends all that there is, also what comes to it meanwhile.
void tls_layer::send() {
    const net::const_buffer output = session_->output();
    if (output.size() == 0) return end_send({});
    sends_ = true;
    socket_->write_some(output, [this](error_code error, std::size_t bytes) {
        sends_ = false;
        session_->sent_output(bytes);
        if (error) return end_send(error);
        send();
    });
}

void tls_layer::end_send(error_code error) {
    if (error) cut_off_ = true;
    if (writer_) {
        erased_handler handler = std::move(*writer_);
        writer_.reset();
        return handler(error, error ? 0 : writes_);
    }
    if (error) return end(error);
    go_on();
}

/// What a reader has to say (warnings, answers to key changes) goes at once or with what is written next.
void tls_layer::send_now() {
    while (!sends_) {
        const net::const_buffer output = session_->output();
        if (output.size() == 0) return;
        const ssize_t bytes =
            ::send(socket_->socket().native_handle(), output.data(), output.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (bytes < 0) return;
        spoken_ = true;
        session_->sent_output(static_cast<std::size_t>(bytes));
    }
}

error_code tls_layer::receive() {
    if (socket_->expired() && reader_) return boost::beast::error::timeout;
    const net::mutable_buffer room = session_->input_room();
    ssize_t bytes = 0;
    do bytes = ::recv(socket_->socket().native_handle(), room.data(), room.size(), MSG_DONTWAIT);
    while (bytes < 0 && errno == EINTR);
    if (bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return net::error::would_block;
    if (bytes < 0) return {errno, boost::system::system_category()};
    if (bytes == 0) {
        session_->cut_off();
        return tls_error::truncated;
    }
    session_->take_input(static_cast<std::size_t>(bytes));
    return {};
}

}  // namespace seriesgate
