#include "http/passing.hpp"

#include <utility>

#include "http/session.hpp"
#include "log/log.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {
namespace {

constexpr const char* session_failed = "a connection was dropped";

}  // namespace

void serve_here(sender_connection from, service& offered) {
    spawn(offered.self.io.get_executor(), serve(std::move(from), offered), session_failed);
}

std::optional<sender_connection> moved_to(net::io_context& to, sender_connection from) {
    detached_socket detached{from.socket};
    connection_lease lease = std::move(from.lease);  // so that it goes before the socket is closed
    auto socket = detached.attach(to);
    if (socket)
        return sender_connection{std::move(*socket), std::move(lease), std::move(from.read_ahead), std::move(from.tls)};
    lease = {};
    log::error(session_failed, {{"err", socket.error().message()}});
    return std::nullopt;
}

void serve_again(idle_connections::one from) {
    connection_lease lease = std::move(from.lease);
    auto socket = from.socket.attach(from.of->self.io);
    if (socket) return serve_here({std::move(*socket), std::move(lease)}, *from.of);
    lease = {};
    log::error(session_failed, {{"err", socket.error().message()}});
}

void serve_there(sender_connection from, service& offered) {
    auto moved = moved_to(offered.self.io, std::move(from));
    if (moved) serve_here(std::move(*moved), offered);
}

}  // namespace seriesgate
