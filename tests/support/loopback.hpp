/// Two ends of a TCP connection on 127.0.0.1, in one io_context, and what is done with them.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "net/socket.hpp"

namespace seriesgate::testing {

struct loopback_pair {
    stream_socket near;
    stream_socket far;
};

/// At a port that is free.
inline stream_acceptor listen_on_loopback(net::io_context& io) {
    return listen_at(io, tcp_endpoint(net::ip::address_v4::loopback(), 0));
}

inline loopback_pair connect_loopback(net::io_context& io) {
    stream_acceptor acceptor = listen_on_loopback(io);
    stream_socket near{io};
    error_code error;
    near.connect(acceptor.local_endpoint(), error);
    // A signal, as libFuzzer's timer sends them, ends the call and not the connecting.
    if (error == net::error::interrupted)
        near.wait(stream_socket::wait_write);
    else if (error)
        throw boost::system::system_error{error};
    return {std::move(near), acceptor.accept()};
}

}  // namespace seriesgate::testing
