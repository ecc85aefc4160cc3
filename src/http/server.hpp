/// Listens, answers who asks for health and figures, and deals the connections that write to the workers in turn.
#pragma once

#include <memory>
#include <vector>

#include "http/connections.hpp"
#include "http/worker.hpp"
#include "net/socket.hpp"

namespace seriesgate {

/// One acceptor for all workers: senders keep few, long connections, and SO_REUSEPORT's hashing would idle workers.
///
/// A connection begins on the front desk's thread, where nothing takes long. The first byte of each request there tells
/// whether it stays: GET and HEAD do, so that health is answered whatever the workers are at; with anything else the
/// connection moves to a worker, for good.
///
/// Threads: the front desk's.
class server {
    worker& front_;
    const std::vector<std::unique_ptr<worker>>& workers_;
    connection_registry& connections_;
    stream_acceptor acceptor_;
    std::size_t next_worker_ = 0;
    std::uint64_t closings_told_ = 0;
    sparse_log closings_{};

  public:
    /// Binds and listens. Throws std::runtime_error with one readable line if that fails.
    /// @param front runs this server, too.
    server(worker& front, const listen_address& where, const std::vector<std::unique_ptr<worker>>& workers,
           connection_registry& connections);

    /// The address in use, with the real port: "127.0.0.1:9201".
    [[nodiscard]] std::string address() const;

    /// Accepts until close(), whatever goes wrong meanwhile. Spawn it once.
    net::awaitable<void> accept();
    void close();

  private:
    net::awaitable<error_code> accept_one();
    void pass_on(sender_connection from);
    void make_room();
    void tell_of_closings();
};

}  // namespace seriesgate
