#include "http/idle_connections.hpp"

#include <cassert>
#include <utility>

namespace seriesgate {

void idle_connections::put(sender_connection from, service& of) {
    assert(!from.tls && from.read_ahead.empty());
    detached_socket socket{from.socket};
    connection_lease lease = std::move(from.lease);
    if (!socket.open()) {
        lease = {};  // before `from` closes what could not be taken out
        return;
    }
    const std::scoped_lock lock{guard_};
    all_.push_back({std::move(socket), std::move(lease), &of});
}

std::size_t idle_connections::size() const {
    const std::scoped_lock lock{guard_};
    return all_.size();
}

std::vector<idle_connections::one> idle_connections::take() {
    const std::scoped_lock lock{guard_};
    return std::exchange(all_, {});
}

}  // namespace seriesgate
