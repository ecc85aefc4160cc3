#include "http/server.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/steady_timer.hpp>
#include <stdexcept>

#include "http/background.hpp"
#include "http/session.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::string& host, unsigned port) {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace

server::server(net::io_context& io, const listen_address& where, const std::vector<std::unique_ptr<worker>>& workers)
    : acceptor_(io), workers_(workers) {
    try {
        tcp::resolver resolver{io};
        const auto found = resolver.resolve(where.host, std::to_string(where.port), tcp::resolver::passive);
        const tcp::endpoint endpoint = found.begin()->endpoint();
        acceptor_.open(endpoint.protocol());
        acceptor_.set_option(net::socket_base::reuse_address{true});
        acceptor_.bind(endpoint);
        acceptor_.listen();
    } catch (const boost::system::system_error& error) {
        throw std::runtime_error(
            fmt::format("cannot listen on {}: {}", text_of(where.host, where.port), error.code().message()));
    }
}

std::string server::address() const {
    const auto endpoint = acceptor_.local_endpoint();
    return text_of(endpoint.address().to_string(), endpoint.port());
}

net::awaitable<void> server::accept() {
    sparse_log failures;
    for (std::size_t next = 0; acceptor_.is_open(); next = (next + 1) % workers_.size()) {
        worker& chosen = *workers_[next];
        auto [error, socket] = co_await acceptor_.async_accept(chosen.io, no_throw);
        if (error == net::error::operation_aborted) co_return;
        if (error) {
            // Out of descriptors, most likely: some will be given back.
            if (const auto times = failures.count(1))
                spdlog::error("cannot accept a connection: {} ({} times since the last such line)", error.message(),
                              *times);
            net::steady_timer pause{acceptor_.get_executor(), 100ms};
            co_await pause.async_wait(no_throw);
            continue;
        }
        error_code ignored;
        socket.set_option(tcp::no_delay{true}, ignored);
        chosen.shared.metrics.connections_accepted.add();
        spawn(chosen.io.get_executor(), serve(std::move(socket), chosen), "a connection was dropped");
    }
}

void server::close() {
    error_code ignored;
    acceptor_.close(ignored);
}

}  // namespace seriesgate
