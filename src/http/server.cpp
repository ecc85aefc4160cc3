#include "http/server.hpp"

#include <cassert>
#include <utility>

#include "http/passing.hpp"

namespace seriesgate {

server::server(entrance at, listening_socket where, descriptor_relief& relief)
    : at_(std::move(at)), relief_(relief), listener_(at_.front.self.io, std::move(where)) {
    assert(!at_.front.pass_on);
    arrivals_ = {.take = [this](stream_socket socket, const stream_endpoint& peer) { take(std::move(socket), peer); },
                 .out_of_descriptors = [this] { relief_.make_room(); }};
    if (!at_.workers.empty()) at_.front.pass_on = [this](sender_connection from) { pass_on(std::move(from)); };
}

net::awaitable<void> server::accept() {
    return listener_.accept(arrivals_);
}

void server::adopt(detached_socket from) {
    if (at_.tls != nullptr) return;
    const stream_endpoint peer = from.remote_endpoint();
    auto socket = from.attach(at_.front.self.io);
    if (socket) take(std::move(*socket), peer);
}

void server::take(stream_socket socket, const stream_endpoint& peer) {
    http_shared& shared = at_.front.self.shared;
    shared.metrics.connections_accepted.add();
    const auto address = network_of(peer);
    const socket_handle handle = socket.handle();
    connection_lease lease = at_.tls != nullptr ? at_.connections.admit_to_handshake(handle, address)
                                                : at_.connections.admit(handle, address);
    if (lease) {
        set_no_delay(socket);
        sender_connection made{std::move(socket), std::move(lease)};
        if (at_.tls != nullptr)
            at_.tls->take(std::move(made), at_.front);
        else
            serve_here(std::move(made), at_.front);
    }
    shared.closings.tell(shared.metrics);
}

void server::pass_on(sender_connection from) {
    service& chosen = *at_.workers[next_worker_];
    next_worker_ = (next_worker_ + 1) % at_.workers.size();
    serve_there(std::move(from), chosen);
}

}  // namespace seriesgate
