#include "upstream/client.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "log/log.hpp"
#include "upstream/exchange.hpp"
#include "upstream/message.hpp"
#include "upstream/retry.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

/// Stores close idle connections after one to two minutes; be first.
constexpr auto idle_age_max = 45s;

upstream_error not_connected(const stream_endpoint& to, error_code error) {
    const bool is_timeout = error == boost::beast::error::timeout;
    return {.reason = reason_of_connect(error),
            .text = "connecting to " + to_text(to) + ": " + (is_timeout ? "no answer in time" : error.message())};
}

/// What an attempt that was given up says of itself.
upstream_error unanswered(upstream_error_reason reason, const attempt& made) {
    const std::string_view when = made.end == attempt_end::unanswered    ? "before its answer, "
                                  : made.end == attempt_end::broken_amid ? "amid its answer, "
                                                                         : "";
    return {.reason = reason, .text = std::string{when}.append(made.why)};
}

double seconds(std::chrono::milliseconds time) {
    return std::chrono::duration<double>(time).count();
}

}  // namespace

upstream_client::upstream_client(net::io_context& io, const upstream_config& settings, const store_door& door,
                                 upstream_metrics& metrics, upstream_health& health)
    : io_(io),
      settings_(settings),
      door_(door),
      metrics_(metrics),
      health_(health),
      resolver_(io),
      addresses_(make_addresses()) {}

address_list upstream_client::make_addresses() {
    error_code no_address;
    const auto address = net::ip::make_address(door_.host, no_address);
    if (!no_address) return address_list{address_list::endpoints{tcp_endpoint(address, door_.port)}};
    return address_list{[this](name_resolver::answer take) {
        resolver_.look_up(door_.host, door_.port,
                          [this, take = std::move(take)](error_code error, std::vector<stream_endpoint> found) {
                              take(error, std::move(found));
                              tell_of_lookup(error);
                          });
    }};
}

void upstream_client::tell_of_lookup(error_code error) {
    const auto news = health_.looked_up(error);
    if (!news) return;
    if (news->resolves)
        return log::info("the upstream's name resolves again",
                         {{"upstream", door_.host}, {"outage_seconds", seconds(news->lasted)}});
    log::warn("the upstream's name does not resolve",
              {{"upstream", door_.host}, {"addresses_kept", addresses_.known().size()}, {"err", error.message()}});
}

void upstream_client::maintain() {
    addresses_.refresh();
    pool_.close_idle(idle_age_max);
}

/// Only the first requests after a start can come before the first answer of the resolver, so asking again is enough.
net::awaitable<void> upstream_client::wait_for_addresses(time_limit limit) {
    net::steady_timer timer{io_};
    while (!addresses_.looked_up() && std::chrono::steady_clock::now() < limit) {
        timer.expires_after(10ms);
        co_await timer.async_wait(no_throw);
    }
}

upstream_error upstream_client::unresolved() const {
    const error_code failure = addresses_.failure();
    return {.reason = upstream_error_reason::dns,
            .text = door_.host + (failure ? " does not resolve: " + failure.message()
                                          : std::string{" has not been looked up in time"})};
}

/// @return why there is no connection; nothing if there is one.
net::awaitable<std::optional<upstream_error>> upstream_client::connect(timed_stream& stream, time_limit limit) {
    // One that does not accept for so long is as good as down, however long it may take to answer.
    const std::chrono::nanoseconds connect_limit = settings_.connect_timeout;
    co_await wait_for_addresses(limit);
    const auto endpoints = addresses_.known();  // a copy: they may be looked up anew while we connect
    std::optional<upstream_error> failed;
    for (const stream_endpoint& endpoint : endpoints) {
        stream.close();
        stream.expires_at(std::min(limit, std::chrono::steady_clock::now() + connect_limit));
        auto [error] = co_await stream.async_connect(endpoint, no_throw);
        if (!error) {
            stream.no_delay();
            co_return std::nullopt;
        }
        failed = not_connected(endpoint, error);
    }
    if (!failed) failed = unresolved();
    co_return failed;
}

net::awaitable<upstream_client::outcome> upstream_client::post(const upstream_request& request) {
    return send(make_message(settings_, door_, request));
}

net::awaitable<upstream_client::outcome> upstream_client::send(upstream_message message) {
    const time_limit limit = std::chrono::steady_clock::now() + settings_.timeout;
    for (std::optional<upstream_connection> connection = pool_.take();; connection.reset()) {
        const auto origin = connection ? connection_origin::pooled : connection_origin::opened;
        if (!connection) {
            connection.emplace(stream_socket{io_}, metrics_.upstream_connections);
            auto failed = co_await connect(connection->stream, limit);
            if (failed) co_return std::move(*failed);
        }
        metrics_.upstream_sent_bytes.add(message.body_bytes());
        attempt made = co_await exchange(connection->stream, message, limit);
        if (made.end == attempt_end::answered) {
            if (made.reusable) pool_.give(std::move(*connection));
            co_return std::move(made.answer);
        }
        if (const auto reason = reason_to_give_up(made.end, origin)) co_return unanswered(*reason, made);
    }
}

}  // namespace seriesgate
