#include "net/host_connection.hpp"

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "base/clock.hpp"

namespace seriesgate {

net::awaitable<result<std::vector<stream_endpoint>, std::string>> endpoints_of(
    net::io_context& io, std::string host, std::uint16_t port, std::chrono::steady_clock::time_point limit) {
    using found_or_not = result<std::vector<stream_endpoint>, std::string>;
    error_code no_address;
    const auto address = net::ip::make_address(host, no_address);
    if (!no_address) co_return found_or_not{std::vector(1, tcp_endpoint(address, port))};
    awaited<result<std::vector<stream_endpoint>, error_code>> looked_up{io};
    name_resolver resolver{io};
    resolver.look_up(host, port, [give = looked_up.to_give()](error_code error, auto found) {
        if (error) return give(error);
        give(std::move(found));
    });
    auto got = co_await looked_up.wait(limit - monotonic_clock::now());
    const std::string fault = host + " does not resolve: ";
    if (!got) co_return found_or_not{fault + "no answer in time"};
    if (!*got) co_return found_or_not{fault + got->error().message()};
    if ((*got)->empty()) co_return found_or_not{host + " has no address"};
    co_return found_or_not{std::move(**got)};
}

net::awaitable<std::string> open_first(net::io_context& io, std::vector<stream_endpoint> endpoints,
                                       const session_maker& make_session, std::chrono::steady_clock::time_point limit,
                                       std::optional<timed_stream>& stream) {
    std::string fault;
    auto left = static_cast<std::ptrdiff_t>(endpoints.size());
    for (const stream_endpoint& each : endpoints) {
        const auto now = monotonic_clock::now();
        stream.emplace(stream_socket{io});
        stream->expires_at(now + (limit - now) / left--);
        auto failed = co_await open_stream(*stream, each, make_session);
        if (!failed) co_return std::string{};
        fault = std::move(failed->text);
    }
    stream.reset();
    co_return fault;
}

}  // namespace seriesgate
