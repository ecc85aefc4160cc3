#include "http/passing.hpp"

#include <utility>

#include "http/session.hpp"
#include "log/log.hpp"
#include "net/background.hpp"

namespace seriesgate {
namespace {

constexpr const char* session_failed = "a connection was dropped";

}  // namespace

void serve_here(sender_connection from, service& offered) {
    spawn(offered.self.io.get_executor(), serve(std::move(from), offered), session_failed);
}

void serve_there(sender_connection from, service& offered) {
    detached_socket detached{from.socket};
    connection_lease lease = std::move(from.lease);  // so that it goes before the socket is closed
    auto socket = detached.attach(offered.self.io);
    if (!socket) {
        lease = {};
        return log::error(session_failed, {{"err", socket.error().message()}});
    }
    serve_here({std::move(*socket), std::move(lease), std::move(from.read_ahead)}, offered);
}

}  // namespace seriesgate
