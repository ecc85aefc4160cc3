/// Stream sockets and endpoints: TCP over IPv4 and IPv6, unix sockets, and a test's virtual network.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

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
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/sender_address.hpp"
#include "net/async.hpp"
#include "net/descriptor.hpp"

namespace seriesgate {

// --- The virtual network of a test, in place of the operating system.

/// One end of a connection. Operations work like those of a real stream socket; handlers are posted, never called from
/// inside the operation. Threads: all on the test's one thread.
class transport {
  public:
    using endpoint = net::generic::stream_protocol::endpoint;

    virtual ~transport() = default;

    virtual void connect(const endpoint& to, erased_handler done) = 0;
    virtual void read_some(net::mutable_buffer into, erased_handler done) = 0;
    virtual void write_some(std::string_view bytes, erased_handler done) = 0;
    virtual void wait_readable(erased_handler done) = 0;
    /// @param error net::error::would_block where the asynchronous operation would wait.
    virtual std::size_t read_now(net::mutable_buffer into, error_code& error) = 0;
    virtual std::size_t write_now(std::string_view bytes, error_code& error) = 0;

    /// Ends pending operations with net::error::operation_aborted.
    virtual void cancel() = 0;
    virtual void close() = 0;
    virtual void shutdown_send() = 0;
    virtual void shutdown_both() = 0;

    [[nodiscard]] virtual bool is_open() const = 0;
    [[nodiscard]] virtual endpoint local_endpoint() const = 0;
    [[nodiscard]] virtual endpoint remote_endpoint() const = 0;
    [[nodiscard]] virtual bool has_unconfirmed() const = 0;
    [[nodiscard]] virtual bool is_quiet() const = 0;
    [[nodiscard]] virtual bool peer_has_ended() const = 0;
};

class transport_listener {
  public:
    using accepted = std::function<void(error_code, std::shared_ptr<transport>, transport::endpoint)>;

    virtual ~transport_listener() = default;
    /// @param done posted to `where`.
    virtual void accept(const net::any_io_executor& where, accepted done) = 0;
    virtual void cancel() = 0;
    virtual void close() = 0;
    [[nodiscard]] virtual bool is_open() const = 0;
    [[nodiscard]] virtual transport::endpoint local_endpoint() const = 0;
};

/// While a test has installed a network, all new sockets belong to it.
class transport_network {
    static inline std::atomic<transport_network*> installed_{nullptr};

  public:
    using found = std::function<void(error_code, std::vector<transport::endpoint>)>;

    virtual ~transport_network() = default;
    virtual std::shared_ptr<transport> make_transport() = 0;
    /// Throws boost::system::system_error if the address is in use.
    virtual std::shared_ptr<transport_listener> listen(const transport::endpoint& where) = 0;
    /// @param done posted to `where`, later or never.
    virtual void look_up(const std::string& host, std::uint16_t port, const net::any_io_executor& where,
                         found done) = 0;

    /// Null outside of tests.
    [[nodiscard]] static transport_network* installed() noexcept { return installed_.load(std::memory_order_relaxed); }
    /// For the whole process, until the call with null. The network must outlive that call.
    static void install(transport_network* one) noexcept { installed_.store(one, std::memory_order_relaxed); }
};

// --- Sockets.

using stream_endpoint = net::generic::stream_protocol::endpoint;

/// Ends a connection of another thread, while its socket is open. Threads: any.
struct socket_handle {
    int descriptor = -1;
    transport* virtual_end = nullptr;

    socket_handle(int of) noexcept : descriptor(of) {}  // NOLINT: a descriptor is one
    explicit socket_handle(transport& of) noexcept : virtual_end(&of) {}

    /// The connection's own thread notices at its next operation.
    void shut_down() const noexcept;
};

/// A TCP or unix socket. The functions below also work on the test's network; elsewhere that costs one test of a
/// pointer. Threads: its executor's.
class stream_socket : public net::generic::stream_protocol::socket {
    using kernel_socket = net::generic::stream_protocol::socket;
    std::shared_ptr<transport> virtual_;

  public:
    explicit stream_socket(net::io_context& io) : kernel_socket(io) {
        if (auto* const network = transport_network::installed()) [[unlikely]]
            virtual_ = network->make_transport();
    }
    stream_socket(kernel_socket&& from) : kernel_socket(std::move(from)) {}  // NOLINT: implicit on purpose
    /// Belongs to the operating system even in tests.
    explicit stream_socket(const net::any_io_executor& of) : kernel_socket(of) {}
    stream_socket(net::io_context& io, std::shared_ptr<transport> from)
        : kernel_socket(io), virtual_(std::move(from)) {}

    /// Null for a socket of the operating system.
    [[nodiscard]] transport* virtual_end() const noexcept { return virtual_.get(); }
    [[nodiscard]] std::shared_ptr<transport> release_virtual() noexcept { return std::move(virtual_); }
    [[nodiscard]] socket_handle handle() noexcept {
        return virtual_ ? socket_handle{*virtual_} : socket_handle{native_handle()};
    }

    /// Ends pending operations with net::error::operation_aborted.
    void cancel_pending() noexcept;
    void close_quietly() noexcept;
    /// Ends our direction: the peer reads an end.
    void shutdown_sending() noexcept;
    /// Empty if the peer has gone.
    [[nodiscard]] stream_endpoint peer() const noexcept;

    /// @param error net::error::would_block if there is nothing to read, or no room to write.
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

/// Threads: its executor's.
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

    [[nodiscard]] net::awaitable<arrival> next(net::io_context& io);

    [[nodiscard]] bool listens() const noexcept { return virtual_ ? virtual_->is_open() : is_open(); }
    void cancel_pending() noexcept;
    void close_quietly() noexcept;
    [[nodiscard]] stream_endpoint bound_to() const { return virtual_ ? virtual_->local_endpoint() : local_endpoint(); }
    [[nodiscard]] std::shared_ptr<transport_listener> release_virtual() noexcept { return std::move(virtual_); }
};

[[nodiscard]] stream_endpoint tcp_endpoint(const net::ip::address& address, std::uint16_t port);
/// Throws boost::system::system_error if the path is too long.
[[nodiscard]] stream_endpoint unix_endpoint(const std::string& path);

/// Nothing for a unix socket, and for the endpoint of a peer that has gone.
[[nodiscard]] std::optional<net::ip::address> ip_address_of(const stream_endpoint& of);

/// An address in the core's form, and back; IPv4 in the mapped form becomes plain IPv4.
[[nodiscard]] ip_address core_address(const net::ip::address& of);
[[nodiscard]] net::ip::address asio_address(const ip_address& of);

/// The unit that per-peer bounds count: an IPv4 address, or the /64 of an IPv6 address, since one host usually owns the
/// whole /64. Source: RFC 6177, section 2.
[[nodiscard]] net::ip::address network_of(const net::ip::address& of);
/// Nothing where ip_address_of() is nothing.
[[nodiscard]] std::optional<net::ip::address> network_of(const stream_endpoint& of);

/// Connecting peers usually have no path.
[[nodiscard]] bool is_unix(const stream_endpoint& of);

/// 0 where ip_address_of() is nothing.
[[nodiscard]] std::uint16_t port_of(const stream_endpoint& of);

/// "127.0.0.1:9201", "[::1]:9201", "unix:/run/x"; "nowhere" for an empty endpoint.
[[nodiscard]] std::string endpoint_text(const stream_endpoint& of);

/// Binds and listens; throws boost::system::system_error.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const stream_endpoint& where);

/// Uses the first address of the name. Waits for the resolver.
[[nodiscard]] stream_acceptor listen_at(net::io_context& io, const std::string& host, std::uint16_t port);

/// Sends small messages without delay. Does nothing for a unix socket.
void set_no_delay(stream_socket& of) noexcept;

/// An open socket without a thread, on its way to another thread or process. Closed if it is never attached.
class detached_socket {
    net::generic::stream_protocol protocol_{AF_UNSPEC, 0};
    descriptor descriptor_;
    std::shared_ptr<transport> virtual_{};  // a test's socket, in place of a descriptor
    std::shared_ptr<transport_listener> virtual_listener_{};

  public:
    detached_socket() = default;
    /// Owns the descriptor from now on.
    explicit detached_socket(int descriptor) noexcept;
    detached_socket(detached_socket&&) noexcept = default;
    detached_socket& operator=(detached_socket&& other) noexcept;
    /// Takes the socket out of its context. Nothing may be pending on it. On failure the socket stays in `from`, and
    /// attach() fails. Threads: the socket's own.
    explicit detached_socket(stream_socket& from) noexcept;
    explicit detached_socket(stream_acceptor& from) noexcept;
    ~detached_socket();

    /// On failure this object still owns the open socket.
    [[nodiscard]] result<stream_socket, error_code> attach(net::io_context& to);
    [[nodiscard]] result<stream_acceptor, error_code> attach_listening(net::io_context& to);

    [[nodiscard]] bool open() const noexcept { return descriptor_.open() || virtual_ || virtual_listener_; }
    /// -1 for none. This object still owns it.
    [[nodiscard]] int native_handle() const noexcept { return descriptor_.get(); }
    /// Empty if the system does not know.
    [[nodiscard]] stream_endpoint local_endpoint() const noexcept;

  private:
    template <class Socket>
    void take(Socket& from) noexcept;
    template <class Socket>
    result<Socket, error_code> give(net::io_context& to);
};

// --- Name lookups.

/// Calls the system's resolver on a thread of Asio, without a time limit. Threads: that of its io_context.
class name_resolver {
    struct state;
    std::shared_ptr<state> state_;

  public:
    using answer = std::function<void(error_code, std::vector<stream_endpoint>)>;

    explicit name_resolver(net::io_context& io);
    ~name_resolver();

    /// @param take called later from the io_context: with no_memory if there is none for the addresses, and with
    /// operation_aborted if the resolver is destroyed first. Never if this throws.
    void look_up(const std::string& host, std::uint16_t port, answer take);
};

// --- The file of a unix socket: created with the listener, removed with it.

/// Replaces the file mode mask of the process. Threads: one, and no other thread may create files meanwhile.
class mode_mask {
    const mode_t before_;

  public:
    explicit mode_mask(mode_t mask) noexcept : before_(::umask(mask)) {}
    mode_mask(const mode_mask&) = delete;
    mode_mask& operator=(const mode_mask&) = delete;
    ~mode_mask() { ::umask(before_); }

    [[nodiscard]] mode_t before() const noexcept { return before_; }
};

/// Removes the file when destroyed, unless another file has replaced it. Threads: one at a time.
class socket_file {
    std::string path_;
    dev_t device_ = 0;
    ino_t number_ = 0;

  public:
    socket_file() = default;
    /// @param path if no file exists there, nothing is removed later.
    explicit socket_file(std::string path);
    socket_file(socket_file&& other) noexcept;
    socket_file& operator=(socket_file&& other) noexcept;
    ~socket_file() { remove(); }

    void remove() noexcept;
    /// Leaves the file to another owner.
    void forget() noexcept { path_.clear(); }
    [[nodiscard]] bool is_ours() const noexcept { return !path_.empty(); }
};

/// A listening socket without an acceptor yet; opened by this process or inherited.
struct listening_socket {
    socket_file file{};  ///< none for TCP, and where another process removes the file
    detached_socket socket;
    bool leaves_file = false;  ///< another process still owns the file and will leave it to this one
};

/// Binds and listens; throws boost::system::system_error. Replaces the socket file of a killed process. Owner and group
/// may connect, others may not. Threads: one, and no other thread may create files meanwhile, since the file mode mask
/// belongs to the process.
[[nodiscard]] listening_socket listen_at_path(net::io_context& io, const std::string& path);

}  // namespace seriesgate
