/// Listens, answers who asks for health and figures, and deals the connections that write to the workers in turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "http/connections.hpp"
#include "http/descriptors.hpp"
#include "http/service.hpp"
#include "log/sparse_log.hpp"
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
    service& front_;
    const std::vector<service*> workers_;
    connection_registry& connections_;
    const descriptor_use others_;
    stream_acceptor acceptor_;
    std::size_t next_worker_ = 0;
    std::uint64_t closings_told_ = 0;
    sparse_log closings_{};

  public:
    /// Binds and listens. Throws std::runtime_error with one readable line if that fails.
    /// @param front runs this server, too.
    /// @param workers at least one.
    /// @param others what else takes descriptors.
    server(service& front, const listen_address& where, std::vector<service*> workers, connection_registry& connections,
           const descriptor_use& others);

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
