#include "http/server.hpp"

#include <fmt/format.h>

#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "http/session.hpp"
#include "log/log.hpp"
#include "net/background.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// After an accept that failed, so that a fault that stays does not keep the thread busy.
constexpr auto accept_pause = 10ms;
constexpr const char* session_failed = "a connection was dropped";

std::string text_of(const std::string& host, unsigned port) {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

bool is_out_of_descriptors(error_code error) {
    return error == net::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system;
}

}  // namespace

server::server(service& front, const listen_address& where, std::vector<service*> workers,
               connection_registry& connections, const descriptor_use& others)
    : front_(front),
      workers_(std::move(workers)),
      connections_(connections),
      others_(others),
      acceptor_(front.self.io) {
    assert(!workers_.empty() && !front_.pass_on);
    try {
        acceptor_ = listen_at(front.self.io, where.host, where.port);
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error(
            fmt::format("cannot listen on {}: {}", text_of(where.host, where.port), error.code().message()));
    }
    front_.pass_on = [this](sender_connection from) { pass_on(std::move(from)); };
}

std::string server::address() const {
    return to_text(acceptor_.local_endpoint());
}

net::awaitable<void> server::accept() {
    sparse_log failures;
    net::steady_timer pause{acceptor_.get_executor()};
    while (acceptor_.is_open()) {
        std::string failure;
        try {
            const error_code error = co_await accept_one();
            if (error) failure = error.message();
        } catch (const std::exception& error) {
            failure = error.what();
        }
        if (failure.empty() || !acceptor_.is_open()) continue;
        if (const auto times = failures.count(1))
            log::error("cannot accept a connection", {{"connections", *times}, {"err", failure}});
        pause.expires_after(accept_pause);
        co_await pause.async_wait(no_throw);
    }
}

net::awaitable<error_code> server::accept_one() {
    stream_endpoint peer;
    auto [error, socket] = co_await acceptor_.async_accept(peer, no_throw);
    if (is_out_of_descriptors(error)) make_room();
    if (!error) {
        front_.self.shared.metrics.connections_accepted.add();
        connection_lease lease =
            connections_.admit(socket.native_handle(), ip_address_of(peer).value_or(net::ip::address{}));
        if (lease) {
            set_no_delay(socket);
            sender_connection made{std::move(socket), std::move(lease)};
            spawn(front_.self.io.get_executor(), serve(std::move(made), front_), session_failed);
        }
    }
    tell_of_closings();
    co_return error;
}

void server::pass_on(sender_connection from) {
    service& chosen = *workers_[next_worker_];
    next_worker_ = (next_worker_ + 1) % workers_.size();
    detached_socket detached{from.socket};
    connection_lease lease = std::move(from.lease);  // so that it goes before the socket is closed
    auto socket = detached.attach(chosen.self.io);
    if (!socket) {
        lease = {};
        return log::error(session_failed, {{"err", socket.error().message()}});
    }
    sender_connection moved{std::move(*socket), std::move(lease), std::move(from.read_ahead)};
    spawn(chosen.self.io.get_executor(), serve(std::move(moved), chosen), session_failed);
}

void server::make_room() {
    // It was made sure at the start that this does not happen, so the limit is a lower one by now.
    const std::size_t before = connections_.total();
    connections_.lower(connections_that_fit(descriptor_limit(), others_));
    if (connections_.total() != before)
        log::warn("server.maxConnections is lowered, there are fewer descriptors",
                  {{"max_connections", connections_.total()}});
}

void server::tell_of_closings() {
    const http_metrics& metrics = front_.self.shared.metrics;
    const auto closings = metrics.connections_given_up.total() + metrics.connections_turned_away.total();
    const auto more = closings - std::exchange(closings_told_, closings);
    if (more == 0) return;
    if (const auto times = closings_.count(more))
        log::warn("too many connections: some are closed or turned away", {{"connections", *times}});
}

void server::close() {
    error_code ignored;
    acceptor_.close(ignored);
}

}  // namespace seriesgate
