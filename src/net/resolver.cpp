#include "net/resolver.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <new>
#include <utility>

namespace seriesgate {

using net::ip::tcp;

struct name_resolver::state {
    tcp::resolver resolver;
};

name_resolver::name_resolver(net::io_context& io) : state_(std::make_unique<state>(state{tcp::resolver{io}})) {}
name_resolver::~name_resolver() = default;

void name_resolver::look_up(const std::string& host, std::uint16_t port, answer take) {
    if (auto* const network = transport_network::installed())
        return network->look_up(host, port, state_->resolver.get_executor(), std::move(take));
    state_->resolver.async_resolve(
        host, std::to_string(port),
        [take = std::move(take)](error_code error, const tcp::resolver::results_type& found) {
            std::vector<stream_endpoint> endpoints;
            try {
                for (const auto& entry : found) endpoints.emplace_back(entry.endpoint());
            } catch (const std::bad_alloc&) {  // whoever asked has to hear of an end
                return take(net::error::no_memory, {});
            }
            take(error, std::move(endpoints));
        });
}

}  // namespace seriesgate
