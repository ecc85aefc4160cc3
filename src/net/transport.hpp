/// The network as a test makes it: what sockets do their work through in place of the operating system.
#pragma once

#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/asio.hpp"
#include "net/erased_handler.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
