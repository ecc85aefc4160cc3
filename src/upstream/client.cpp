#include "upstream/client.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>

#include "upstream/exchange.hpp"
#include "upstream/message.hpp"
#include "upstream/retry.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// An upstream that does not accept within this is as good as down, however long it may take to answer.
constexpr auto connect_limit = 5s;
constexpr auto maintenance_interval = 1s;
/// Stores close idle connections after one to two minutes; be first.
constexpr auto idle_age_max = 45s;

}  // namespace

upstream_client::upstream_client(net::io_context& io, const upstream_config& settings, upstream_metrics& metrics)
    : io_(io), settings_(settings), metrics_(metrics), resolver_(io), addresses_(make_addresses()) {}

address_list upstream_client::make_addresses() {
    error_code no_address;
    const auto address = net::ip::make_address(settings_.host, no_address);
    if (!no_address) return address_list{address_list::endpoints{tcp_endpoint(address, settings_.port)}};
    return address_list{
        [this](name_resolver::answer take) { resolver_.look_up(settings_.host, settings_.port, std::move(take)); }};
}

net::awaitable<void> upstream_client::maintain() {
    net::steady_timer timer{io_};
    for (;;) {
        addresses_.refresh();
        pool_.close_idle(idle_age_max);
        timer.expires_after(maintenance_interval);
        auto [error] = co_await timer.async_wait(no_throw);
        if (error) co_return;
    }
}

/// Only the first requests after a start can come before the first answer of the resolver, so asking again is enough.
net::awaitable<void> upstream_client::wait_for_addresses(time_limit limit) {
    net::steady_timer timer{io_};
    while (!addresses_.looked_up() && std::chrono::steady_clock::now() < limit) {
        timer.expires_after(10ms);
        co_await timer.async_wait(no_throw);
    }
}

net::awaitable<bool> upstream_client::connect(timed_stream& stream, time_limit limit) {
    co_await wait_for_addresses(limit);
    const auto endpoints = addresses_.known();  // a copy: they may be looked up anew while we connect
    for (const stream_endpoint& endpoint : endpoints) {
        stream.close();
        stream.expires_at(std::min(limit, std::chrono::steady_clock::now() + connect_limit));
        auto [error] = co_await stream.async_connect(endpoint, no_throw);
        if (error) continue;
        stream.no_delay();
        co_return true;
    }
    co_return false;
}

net::awaitable<upstream_client::outcome> upstream_client::post(const upstream_request& request) {
    return send(make_message(settings_, request));
}

net::awaitable<upstream_client::outcome> upstream_client::send(upstream_message message) {
    const time_limit limit = std::chrono::steady_clock::now() + settings_.timeout;
    for (std::optional<upstream_connection> connection = pool_.take();; connection.reset()) {
        const auto origin = connection ? connection_origin::pooled : connection_origin::opened;
        if (!connection) {
            connection.emplace(stream_socket{io_}, metrics_.upstream_connections);
            const bool connected = co_await connect(connection->stream, limit);
            if (!connected) co_return upstream_error_reason::unreachable;
        }
        metrics_.upstream_sent_bytes.add(message.body_bytes());
        attempt made = co_await exchange(connection->stream, message, limit);
        if (made.end == attempt_end::answered) {
            if (made.reusable) pool_.give(std::move(*connection));
            co_return std::move(made.answer);
        }
        if (const auto reason = reason_to_give_up(made.end, origin)) co_return *reason;
    }
}

}  // namespace seriesgate
