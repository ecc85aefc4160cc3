/// What a client keeps of TLS sessions, so that the next one with the same server is cheaper.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "net/openssl_pointers.hpp"

namespace seriesgate {

/// By the name that the server had to prove: a resumed session proves it again by knowing the ticket's secret.
/// Threads: any. Held for a handshake's sake only, so that the lock is nobody's hot path.
class tls_tickets {
    std::mutex lock_;
    std::map<std::string, std::deque<ssl_session_ptr>> kept_;  // newest last

  public:
    static constexpr std::size_t names_max = 64;
    static constexpr std::size_t each_max = 8;  ///< TLS 1.3 uses a ticket once, and connections are opened together

    /// Beyond the bounds the oldest of this name is forgotten; further names are not kept.
    void give(const std::string& name, ssl_session_ptr session);
    /// Nothing if there is none.
    [[nodiscard]] ssl_session_ptr take(const std::string& name);
};

}  // namespace seriesgate
