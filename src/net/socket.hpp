/// Sockets of streams, whatever their addresses are: TCP over IPv4 or IPv6, or a unix socket.
#pragma once

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- The network as a test makes it: what sockets do their work through in place of the operating system.

/// One end of a connection. Operations are as those of a stream socket of the operating system; handlers are posted,
/// never called by the one who starts the operation. Threads: one for all of them, the test's.
class transport {
  public:
    using endpoint = net::generic::stream_protocol::endpoint;

    virtual ~transport() = default;

    virtual void connect(const endpoint& to, erased_handler done) = 0;
    virtual void read_some(net::mutable_buffer into, erased_handler done) = 0;
    virtual void write_some(std::string_view bytes, erased_handler done) = 0;
    virtual void wait_readable(erased_handler done) = 0;
    /// @param error net::error::would_block where an operation with a handler would wait.
    virtual std::size_t read_now(net::mutable_buffer into, error_code& error) = 0;
    virtual std::size_t write_now(std::string_view bytes, error_code& error) = 0;

    /// Ends what is pending with net::error::operation_aborted.
    virtual void cancel() = 0;
    virtual void close() = 0;
    virtual void shutdown_send() = 0;
    virtual void shutdown_both() = 0;

    [[nodiscard]] virtual bool is_open() const = 0;
    [[nodiscard]] virtual endpoint local_endpoint() const = 0;
    [[nodiscard]] virtual endpoint remote_endpoint() const = 0;
    /// As timed_stream has them.
    [[nodiscard]] virtual bool has_unconfirmed() const = 0;
    [[nodiscard]] virtual bool is_quiet() const = 0;
    [[nodiscard]] virtual bool peer_has_ended() const = 0;
};

/// Where connections come in.
class transport_listener {
  public:
    /// The connection that has come, and who is at its other end.
    using accepted = std::function<void(error_code, std::shared_ptr<transport>, transport::endpoint)>;

    virtual ~transport_listener() = default;
    /// @param done is posted to `where`.
    virtual void accept(const net::any_io_executor& where, accepted done) = 0;
    virtual void cancel() = 0;
    virtual void close() = 0;
    [[nodiscard]] virtual bool is_open() const = 0;
    [[nodiscard]] virtual transport::endpoint local_endpoint() const = 0;
};

/// What a test installs. While it is, every socket that is made is one of it.
class transport_network {
    static inline std::atomic<transport_network*> installed_{nullptr};

  public:
    using found = std::function<void(error_code, std::vector<transport::endpoint>)>;

    virtual ~transport_network() = default;
    virtual std::shared_ptr<transport> make_transport() = 0;
    /// Throws boost::system::system_error if the address is in use.
    virtual std::shared_ptr<transport_listener> listen(const transport::endpoint& where) = 0;
    /// @param done is posted to `where`, some time or never.
    virtual void look_up(const std::string& host, std::uint16_t port, const net::any_io_executor& where,
                         found done) = 0;

    /// Null outside of tests.
    [[nodiscard]] static transport_network* installed() noexcept { return installed_.load(std::memory_order_relaxed); }
    /// For the whole process, until it is called with null. It outlives that.
    static void install(transport_network* one) noexcept { installed_.store(one, std::memory_order_relaxed); }
};

// --- A socket of the operating system or, in a test that has installed a network of its own, one of that.

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

[[nodiscard]] stream_endpoint tcp_endpoint(const net::ip::address& address, std::uint16_t port);
/// Throws boost::system::system_error for a path that is too long.
[[nodiscard]] stream_endpoint unix_endpoint(const std::string& path);

/// Nothing for a unix socket, and for the endpoint of a peer that has gone.
[[nodiscard]] std::optional<net::ip::address> ip_address_of(const stream_endpoint& of);

/// Who is one peer where peers have bounds: an IPv4 address, or the /64 of an IPv6 one, since whoever has one of its
/// addresses as a rule has them all. Source: RFC 6177, section 2.
[[nodiscard]] net::ip::address network_of(const net::ip::address& of);
/// Nothing where ip_address_of() is nothing.
[[nodiscard]] std::optional<net::ip::address> network_of(const stream_endpoint& of);

/// Of a unix socket, with a path or, as most that connect, without.
[[nodiscard]] bool is_unix(const stream_endpoint& of);

/// 0 where ip_address_of() is nothing.
[[nodiscard]] std::uint16_t port_of(const stream_endpoint& of);

/// "127.0.0.1:9201", "[::1]:9201", "unix:/run/x"; "nowhere" for an empty one.
[[nodiscard]] std::string endpoint_text(const stream_endpoint& of);

/// Binds and listens; throws boost::system::system_error.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const stream_endpoint& where);

/// The same at the first address that a name has. Waits for the resolver.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const std::string& host, std::uint16_t port);

/// Small messages go at once. Nothing happens to a unix socket.
void set_no_delay(stream_socket& of) noexcept;

/// An open socket that is no thread's, on its way from one to another, or between processes. Closed if nobody attaches
/// it.
class detached_socket {
    net::generic::stream_protocol protocol_{AF_UNSPEC, 0};
    int descriptor_ = -1;
    std::shared_ptr<transport> virtual_{};                    // a test's, in place of a descriptor
    std::shared_ptr<transport_listener> virtual_listener_{};  // the same of one that listens

  public:
    detached_socket() = default;
    /// Of a descriptor, which is its own from now on.
    explicit detached_socket(int descriptor) noexcept;
    detached_socket(detached_socket&& other) noexcept;
    detached_socket& operator=(detached_socket&& other) noexcept;
    /// Takes the socket out of its context. Nothing may be pending on it. If that fails, it stays as it is and attach()
    /// fails. Threads: the one that it belongs to so far.
    explicit detached_socket(stream_socket& from) noexcept;
    /// The same of one that listens.
    explicit detached_socket(stream_acceptor& from) noexcept;
    ~detached_socket();

    /// If it fails, the socket is still open, and still ours.
    [[nodiscard]] result<stream_socket, error_code> attach(net::io_context& to);
    /// The same for one that listens.
    [[nodiscard]] result<stream_acceptor, error_code> attach_listening(net::io_context& to);

    [[nodiscard]] bool open() const noexcept { return descriptor_ >= 0 || virtual_ || virtual_listener_; }
    /// -1 for none. It stays ours.
    [[nodiscard]] int native_handle() const noexcept { return descriptor_; }
    /// Where it is bound; nowhere if the system does not say.
    [[nodiscard]] stream_endpoint local_endpoint() const noexcept;
    /// Who is at its other end; nowhere if nobody is.
    [[nodiscard]] stream_endpoint remote_endpoint() const noexcept;

  private:
    template <class Socket>
    void take(Socket& from) noexcept;
    template <class Socket>
    result<Socket, error_code> give(net::io_context& to);
};

// --- Looks names up while others work.

/// Asks the system's resolver on a thread of Asio's. No clock ends one that hangs. Threads: the one of its io_context.
class name_resolver {
    struct state;
    std::unique_ptr<state> state_;

  public:
    using answer = std::function<void(error_code, std::vector<stream_endpoint>)>;

    explicit name_resolver(net::io_context& io);
    name_resolver(const name_resolver&) = delete;
    name_resolver& operator=(const name_resolver&) = delete;
    ~name_resolver();

    /// @param take is called later, from the io_context; with operation_aborted when the resolver goes before.
    void look_up(const std::string& host, std::uint16_t port, answer take);
};

}  // namespace seriesgate
