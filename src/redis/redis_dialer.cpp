#include "redis/redis_dialer.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <boost/beast/core/error.hpp>
#include <cstddef>
#include <utility>

#include "net/async.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

using clock = monotonic_clock;

constexpr std::size_t names_max = 128;

redis_error unreachable(std::string text) {
    return {.why = redis_error::kind::unreachable, .text = std::move(text)};
}

std::string words_of(error_code error) {
    return error == boost::beast::error::timeout ? "no answer in time" : error.message();
}

struct found_addresses {
    error_code error;
    std::vector<stream_endpoint> addresses;
};

}  // namespace

/// A server that fails over may do it by its name, so it is asked for each time; what was known before is for when
/// nobody answers.
net::awaitable<result<redis_dialer::endpoints, redis_error>> redis_dialer::look_up(const host_port& to, time_limit by) {
    if (to.host.empty()) co_return endpoints{unix_endpoint(config_.unix_path)};
    error_code no_address;
    const auto address = net::ip::make_address(to.host, no_address);
    if (!no_address) co_return endpoints{tcp_endpoint(address, to.port)};

    awaited<found_addresses> answer{io_};
    if (!std::exchange(looking_up_, true))
        resolver_.look_up(to.host, to.port,
                          [this, host = to.host, give = answer.to_give()](error_code error, endpoints found) {
                              looking_up_ = false;
                              if (!error) take(host, found);
                              give({error, std::move(found)});
                          });
    auto found = co_await answer.wait(by - clock::now());
    if (found && !found->error) co_return std::move(found->addresses);
    if (const auto before = known_.find(to.host); before != known_.end()) co_return before->second;
    co_return unreachable(to.host + (found ? " does not resolve: " + found->error.message()
                                           : std::string{" has not been looked up in time"}));
}

void redis_dialer::take(const std::string& host, const endpoints& found) {
    if (known_.size() >= names_max) known_.clear();
    known_[host] = found;
}

net::awaitable<redis_dialer::opened> redis_dialer::open_at(const host_port& to, const stream_endpoint& at,
                                                           time_limit by) {
    timed_stream stream{stream_socket{io_}};
    stream.expires_at(by);
    auto [error] = co_await stream.async_connect(at, no_throw);
    if (error) co_return unreachable("connecting to " + endpoint_text(at) + ": " + words_of(error));
    stream.no_delay();
    if (config_.tls) {
        try {
            stream.start_tls(shared_.make_session(to.host));
        } catch (const boost::system::system_error& bad_name) {
            co_return unreachable("TLS with " + endpoint_text(at) + ": " + bad_name.what());
        }
        auto [failed] = co_await stream.async_handshake(no_throw);
        const std::string why = stream.tls()->failure();
        if (failed)
            co_return unreachable("TLS with " + endpoint_text(at) + ": " + (why.empty() ? words_of(failed) : why));
    }
    co_return std::make_shared<redis_pipeline>(std::move(stream));
}

net::awaitable<redis_dialer::opened> redis_dialer::open(const host_port& to, time_limit by) {
    const auto halfway = clock::now() + (by - clock::now()) / 2;
    auto found = co_await look_up(to, halfway);
    if (!found) co_return found.error();
    opened made = unreachable(to.host + " has no address");
    for (auto left = static_cast<std::ptrdiff_t>(found->size()); const stream_endpoint& each : *found) {
        made = co_await open_at(to, each, clock::now() + (by - clock::now()) / left--);
        if (made) break;
    }
    co_return made;
}

}  // namespace seriesgate
