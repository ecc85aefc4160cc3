/// Listens, and deals accepted connections to the workers in turn.
#pragma once

#include <memory>
#include <vector>

#include "http/worker.hpp"

namespace seriesgate {

/// One acceptor for all workers: senders keep few, long connections, and SO_REUSEPORT's hashing would idle workers.
/// Threads: the one of the io_context given.
class server {
    tcp::acceptor acceptor_;
    const std::vector<std::unique_ptr<worker>>& workers_;

  public:
    /// Binds and listens. Throws std::runtime_error with one readable line if that fails.
    server(net::io_context& io, const listen_address& where, const std::vector<std::unique_ptr<worker>>& workers);

    /// The address in use, with the real port: "127.0.0.1:9201".
    [[nodiscard]] std::string address() const;

    /// Accepts until close(). Spawn it once.
    net::awaitable<void> accept();
    void close();
};

}  // namespace seriesgate
