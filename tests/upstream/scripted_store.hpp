/// A store on 127.0.0.1 that does what it is told, in the io_context of whoever talks to it.
#pragma once

#include <netinet/tcp.h>

#include <boost/asio/read_until.hpp>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "net/async.hpp"
#include "net/socket.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing {

using quick_confirming = net::detail::socket_option::boolean<IPPROTO_TCP, TCP_QUICKACK>;

/// What is made of one request.
struct scripted_answer {
    enum class when { after_body, before_body, instead_of_body };  ///< the last: the body is not read
    enum class then { keep, close, reset };

    std::string text;  ///< as it is sent; may be anything, or nothing
    when sent = when::after_body;
    then afterwards = then::keep;
};

struct scripted_store {
    stream_acceptor acceptor;
    std::deque<scripted_answer> script;
    std::vector<std::string> requests;  ///< as they came
    unsigned accepted = 0;
    bool puts_off_confirming = false;  ///< its host tells what has arrived as late as it may

    explicit scripted_store(net::io_context& io) : acceptor(listen_on_loopback(io)) {}
    [[nodiscard]] store_backend as_backend(std::string target, std::string authority = "store.test") const {
        return {.host = "127.0.0.1",
                .port = port_of(acceptor.local_endpoint()),
                .target = std::move(target),
                .authority = std::move(authority)};
    }
};

/// Reads one request and does what the script says; without a script it reads on and says nothing.
inline net::awaitable<bool> serve_one(scripted_store& store, stream_socket& socket) {
    std::string text;
    auto buffer = net::dynamic_buffer(text);
    auto [error, header_bytes] = co_await net::async_read_until(socket, buffer, "\r\n\r\n", no_throw);
    if (error) co_return false;
    const std::size_t length_at = text.find("Content-Length: ");
    const std::size_t body_bytes =
        length_at == std::string::npos ? 0 : std::strtoull(&text[length_at + 16], nullptr, 10);
    scripted_answer answer;
    if (!store.script.empty()) {
        answer = std::move(store.script.front());
        store.script.pop_front();
    }
    const auto answering = net::buffer(answer.text);
    if (answer.sent != scripted_answer::when::after_body) co_await net::async_write(socket, answering, no_throw);
    const bool is_read = answer.sent != scripted_answer::when::instead_of_body;
    const std::size_t missing = is_read ? header_bytes + body_bytes - text.size() : 0;
    const auto all_of_it = net::transfer_exactly(missing);
    if (missing != 0) co_await net::async_read(socket, buffer, all_of_it, no_throw);
    store.requests.push_back(text);
    if (answer.sent == scripted_answer::when::after_body) co_await net::async_write(socket, answering, no_throw);
    if (answer.afterwards == scripted_answer::then::reset) {
        error_code ignored;
        socket.set_option(net::socket_base::linger{true, 0}, ignored);
        socket.close(ignored);
    }
    co_return answer.afterwards == scripted_answer::then::keep;
}

inline net::awaitable<void> serve_connection(scripted_store& store, stream_socket socket) {
    for (;;) {
        const bool goes_on = co_await serve_one(store, socket);
        if (!goes_on) co_return;
    }
}

inline net::awaitable<void> serve_all(scripted_store& store) {
    for (;;) {
        auto [error, socket] = co_await store.acceptor.async_accept(no_throw);
        if (error) co_return;
        ++store.accepted;
        if (store.puts_off_confirming) socket.set_option(quick_confirming{false});
        net::co_spawn(store.acceptor.get_executor(), serve_connection(store, std::move(socket)), net::detached);
    }
}

}  // namespace seriesgate::testing
