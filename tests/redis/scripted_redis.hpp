/// A server on 127.0.0.1 that says what it is told, in the io_context of whoever talks to it.
#pragma once

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "net/async.hpp"
#include "net/socket.hpp"
#include "redis/redis_reply.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing {

using words = std::vector<std::string>;

/// A string as servers send it.
inline std::string bulk(const std::string& text) {
    return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

struct scripted_redis {
    stream_acceptor acceptor;
    /// By the command's name, for as long as the server lives: what is asked when one connects is answered usually.
    std::map<std::string, std::string> always{
        {"AUTH", "+OK\r\n"}, {"INFO", bulk("# Server\r\nrun_id:aaaa\r\n")}, {"ROLE", "*1\r\n$6\r\nmaster\r\n"}};
    std::deque<std::string> script;  ///< to all other commands, in turn; without one nothing is said
    std::size_t piece_bytes = 0;     ///< of what is sent at a time; 0: all
    std::vector<words> commands;     ///< all that came, but for what `always` answers
    std::vector<std::shared_ptr<stream_socket>> sockets;

    explicit scripted_redis(net::io_context& io) : acceptor(listen_on_loopback(io)) {}

    [[nodiscard]] std::uint16_t port() const { return port_of(acceptor.local_endpoint()); }
    /// How many have connected.
    [[nodiscard]] std::size_t accepted() const { return sockets.size(); }
    /// Ends all connections.
    void close_all() {
        for (const auto& each : sockets) {
            error_code ignored;
            each->close(ignored);
        }
    }
};

inline std::string answer_to(scripted_redis& server, const redisReply& command) {
    words said;
    for (std::size_t i = 0; i < command.elements; ++i) said.emplace_back(seriesgate::text_of(*command.element[i]));
    if (const auto found = server.always.find(said.at(0)); found != server.always.end()) return found->second;
    server.commands.push_back(std::move(said));
    if (server.script.empty()) return "";
    std::string text = std::move(server.script.front());
    server.script.pop_front();
    return text;
}

inline net::awaitable<void> serve_connection(scripted_redis& server, std::shared_ptr<stream_socket> socket) {
    reply_reader commands;  // a command is an array, as a reply may be one
    std::string room(4096, '\0');
    for (;;) {
        const auto into = net::buffer(room);
        auto [error, bytes] = co_await socket->async_read_some(into, no_throw);
        if (error) break;
        commands.take({room.data(), bytes});
        while (const redis_reply command = commands.next()) {
            const std::string answer = answer_to(server, *command);
            const std::size_t step = server.piece_bytes == 0 ? answer.size() : server.piece_bytes;
            for (std::size_t at = 0; at < answer.size(); at += step) {
                const auto piece = net::buffer(answer.data() + at, std::min(step, answer.size() - at));
                co_await net::async_write(*socket, piece, no_throw);
            }
        }
    }
    error_code ignored;
    socket->close(ignored);
}

inline net::awaitable<void> serve_all(scripted_redis& server) {
    for (;;) {
        auto [error, socket] = co_await server.acceptor.async_accept(no_throw);
        if (error) co_return;
        server.sockets.push_back(std::make_shared<stream_socket>(std::move(socket)));
        net::co_spawn(server.acceptor.get_executor(), serve_connection(server, server.sockets.back()), net::detached);
    }
}

}  // namespace seriesgate::testing
