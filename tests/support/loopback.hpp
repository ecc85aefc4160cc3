/// Two ends of a TCP connection on 127.0.0.1, in one io_context.
#pragma once

#include <utility>

#include "net/asio.hpp"

namespace seriesgate::testing {

struct loopback_pair {
    tcp::socket near;
    tcp::socket far;
};

inline loopback_pair connect_loopback(net::io_context& io) {
    tcp::acceptor acceptor{io, tcp::endpoint{net::ip::address_v4::loopback(), 0}};
    tcp::socket near{io};
    near.connect(acceptor.local_endpoint());
    return {std::move(near), acceptor.accept()};
}

}  // namespace seriesgate::testing
