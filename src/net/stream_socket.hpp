/// A socket of the operating system or, in a test that has installed a network of its own, one of that.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "net/asio.hpp"
#include "net/transport.hpp"

namespace seriesgate {

using stream_endpoint = net::generic::stream_protocol::endpoint;

/// What ends a connection that is another thread's, for as long as the socket is open. Threads: any.
struct socket_handle {
    int descriptor = -1;
    transport* virtual_end = nullptr;

    socket_handle(int of) noexcept : descriptor(of) {}  // NOLINT: a descriptor is one
    explicit socket_handle(transport& of) noexcept : virtual_end(&of) {}

    /// The connection's own thread sees its end when it looks.
    void shut_down() const noexcept;
};

/// TCP or a unix socket. Asio's socket with its operations, of which the ones below know the test's network, too:
/// nothing of it is on the way of an operation but one test of a pointer. Threads: its executor's.
class stream_socket : public net::generic::stream_protocol::socket {
    using kernel_socket = net::generic::stream_protocol::socket;
    std::shared_ptr<transport> virtual_;

  public:
    explicit stream_socket(net::io_context& io) : kernel_socket(io) {
        if (auto* const network = transport_network::installed()) [[unlikely]]
            virtual_ = network->make_transport();
    }
    /// Takes a socket of the operating system over.
    stream_socket(kernel_socket&& from) : kernel_socket(std::move(from)) {}  // NOLINT: it is one
    /// One of the operating system, whatever is installed.
    explicit stream_socket(const net::any_io_executor& of) : kernel_socket(of) {}
    stream_socket(net::io_context& io, std::shared_ptr<transport> from)
        : kernel_socket(io), virtual_(std::move(from)) {}

    /// Null for one of the operating system.
    [[nodiscard]] transport* virtual_end() const noexcept { return virtual_.get(); }
    [[nodiscard]] std::shared_ptr<transport> release_virtual() noexcept { return std::move(virtual_); }
    [[nodiscard]] socket_handle handle() noexcept {
        return virtual_ ? socket_handle{*virtual_} : socket_handle{native_handle()};
    }

    /// Ends what is pending with net::error::operation_aborted.
    void cancel_pending() noexcept;
    void close_quietly() noexcept;
    /// Nothing more will be sent: the peer sees the end.
    void shutdown_sending() noexcept;
    /// Nowhere if the peer has gone.
    [[nodiscard]] stream_endpoint peer() const noexcept;

    /// Within the call. @param error net::error::would_block where there is nothing to read, or no room to write.
    template <class Buffers>
    std::size_t read_at_once(const Buffers& into, error_code& error) {
        if (virtual_) [[unlikely]]
            return virtual_->read_now(first_of<net::mutable_buffer>(into), error);
        if (!non_blocking()) non_blocking(true, error);
        return error ? 0 : read_some(into, error);
    }
    template <class Buffers>
    std::size_t write_at_once(const Buffers& from, error_code& error) {
        if (virtual_) [[unlikely]]
            return virtual_->write_now(whole(from), error);
        if (!non_blocking()) non_blocking(true, error);
        return error ? 0 : write_some(from, error);
    }

    /// See timed_stream.
    [[nodiscard]] bool has_unconfirmed() const noexcept;
    [[nodiscard]] bool is_quiet() noexcept;
    [[nodiscard]] bool peer_has_ended() const noexcept;

    /// The first of several buffers that holds something.
    template <class Buffer, class Buffers>
    static Buffer first_of(const Buffers& buffers) {
        for (auto each = net::buffer_sequence_begin(buffers); each != net::buffer_sequence_end(buffers); ++each)
            if (const Buffer one{*each}; one.size() != 0) return one;
        return {};
    }
    template <class Buffers>
    static std::string whole(const Buffers& buffers) {
        std::string bytes(net::buffer_size(buffers), '\0');
        net::buffer_copy(net::buffer(bytes), buffers);
        return bytes;
    }
};

/// A socket that listens. Threads: its executor's.
class stream_acceptor : public net::basic_socket_acceptor<net::generic::stream_protocol> {
    using kernel_acceptor = net::basic_socket_acceptor<net::generic::stream_protocol>;
    std::shared_ptr<transport_listener> virtual_;

  public:
    struct arrival {
        error_code error;
        stream_socket socket;
        stream_endpoint peer{};
    };

    explicit stream_acceptor(net::io_context& io) : kernel_acceptor(io) {}
    stream_acceptor(net::io_context& io, std::shared_ptr<transport_listener> from)
        : kernel_acceptor(io), virtual_(std::move(from)) {}

    /// Waits for the next connection.
    [[nodiscard]] net::awaitable<arrival> next(net::io_context& io);

    [[nodiscard]] bool listens() const noexcept { return virtual_ ? virtual_->is_open() : is_open(); }
    void cancel_pending() noexcept;
    void close_quietly() noexcept;
    [[nodiscard]] stream_endpoint bound_to() const;
    [[nodiscard]] std::shared_ptr<transport_listener> release_virtual() noexcept { return std::move(virtual_); }
};

}  // namespace seriesgate
