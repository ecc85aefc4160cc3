#include "http/server.hpp"

#include <fmt/format.h>

#include <cassert>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/log.hpp"
#include "http/session.hpp"
#include "net/async.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// After a failed accept: a lasting error must not keep the thread busy.
constexpr auto accept_pause = 10ms;

constexpr std::string_view unix_prefix = "unix:";

bool is_out_of_descriptors(error_code error) {
    return error == net::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

listening_socket listen_on(const listen_address& where) {
    try {
        net::io_context io{1};  // only needed to open the socket
        if (!where.unix_path.empty()) return listen_at_path(io, where.unix_path);
        stream_acceptor made = listen_at(io, where.host, where.port);
        return {.socket = detached_socket{made}};
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error(fmt::format("cannot listen on {}: {}", shown(where), error.code().message()));
    }
}

server::server(entrance at, listening_socket where, descriptor_relief& relief)
    : at_(std::move(at)),
      relief_(relief),
      file_(std::move(where.file)),
      acceptor_(at_.front.thread.io),
      takes_file_(where.leaves_file) {
    auto attached = where.socket.attach_listening(at_.front.thread.io);
    if (!attached) throw std::runtime_error("cannot accept connections: " + attached.error().message());
    acceptor_ = std::move(*attached);
    assert(!at_.front.pass_on);
    if (!at_.workers.empty()) at_.front.pass_on = [this](sender_connection from) { pass_on(std::move(from)); };
}

net::awaitable<void> server::accept() {
    throttled_log failures;
    async_timer pause{acceptor_.get_executor()};  // a failure may have left no memory for one
    accepts_ = true;
    while (acceptor_.listens() && !is_paused_) {
        std::string failure;
        try {
            auto came = co_await acceptor_.next(at_.front.thread.io);
            if (is_out_of_descriptors(came.error)) relief_.make_room();
            if (came.error)
                failure = came.error.message();
            else
                take(std::move(came.socket), came.peer);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (failure.empty() || !acceptor_.listens() || is_paused_) continue;
        if (const auto times = failures.count(1))
            log::error("cannot accept a connection", {{"connections", *times}, {"err", failure}});
        pause.expires_after(accept_pause);
        co_await pause.async_wait(no_throw);
    }
    accepts_ = false;
}

void server::take_file() {
    if (std::exchange(takes_file_, false)) file_ = socket_file{address().substr(unix_prefix.size())};
}

void server::pause() {
    is_paused_ = true;
    acceptor_.cancel_pending();
}

void server::close() {
    file_.remove();
    acceptor_.close_quietly();
}

void server::take(stream_socket socket, const stream_endpoint& peer) {
    http_shared& shared = at_.front.thread.shared;
    shared.metrics.connections_accepted.add();
    const proxy_header_rule rule = !at_.has_proxy_protocol                            ? proxy_header_rule::ignored
                                   : is_trusted(ip_address_of(peer), shared.settings) ? proxy_header_rule::required
                                                                                      : proxy_header_rule::refused;
    const bool is_of_proxy = rule == proxy_header_rule::required;
    const auto address = is_of_proxy ? std::nullopt : network_of(peer);  // a proxy's is its sender's
    const socket_handle handle = socket.handle();
    const bool is_arrival = at_.arrivals != nullptr && (at_.arrivals->has_tls() || is_of_proxy);
    const auto first = is_arrival ? connection_stage::tls_handshake : connection_stage::waiting;
    connection_lease lease = at_.connections.admit(handle, address, connection_registry::clock::now(), first);
    if (lease) {
        set_no_delay(socket);
        sender_connection made{std::move(socket), std::move(lease)};
        if (is_arrival)
            at_.arrivals->take(std::move(made), at_.front, rule);
        else
            serve_here(std::move(made), at_.front);
    }
    shared.closings.log_new(shared.metrics);
}

void server::pass_on(sender_connection from) {
    service& chosen = *at_.workers[next_worker_];
    next_worker_ = (next_worker_ + 1) % at_.workers.size();
    serve_there(std::move(from), chosen);
}

}  // namespace seriesgate
