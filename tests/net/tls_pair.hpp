/// Two TLS sessions that speak with each other in memory, or through sockets.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "net/certificate.hpp"
#include "net/timed_stream.hpp"
#include "net/tls_session.hpp"
#include "support/loopback.hpp"

namespace seriesgate::testing {

using context_ptr = std::shared_ptr<const tls_context>;

inline context_ptr made(const tls_settings& from) {
    auto context = make_tls_context(from);
    if (!context) throw std::runtime_error(context.error());
    return *context;
}

/// Of store.test, in this run.
inline const certificate& store_certificate() {
    static const certificate made = server_certificate("store.test");
    return made;
}

/// How store.test serves.
inline tls_settings serving() {
    return {.role = tls_role::server, .certificates = store_certificate().chain, .key = store_certificate().key};
}

/// How those ask who know it.
inline tls_settings asking() {
    return {.role = tls_role::client, .authorities = store_certificate().chain};
}

/// All that a session has to send.
inline std::string take_output(tls_session& of) {
    std::string all;
    for (net::const_buffer some = of.output(); some.size() != 0; some = of.output()) {
        all.append(static_cast<const char*>(some.data()), some.size());
        of.sent_output(some.size());
    }
    return all;
}

/// To a session that wants input, at most as much as it has room for.
inline void give_input(tls_session& to, std::string_view& from) {
    const std::size_t bytes = net::buffer_copy(to.input_room(), net::buffer(from));
    to.take_input(bytes);
    from.remove_prefix(bytes);
}

struct tls_pair {
    tls_session client;
    tls_session server;

    tls_pair(context_ptr asks, context_ptr serves, const std::string& name = "store.test")
        : client(std::move(asks), name), server(std::move(serves)) {}

    /// Until both have done it, or one has failed and the other knows.
    void shake_hands() {
        for (int turn = 0; turn < 10; ++turn) {
            const bool asks_more = step(client, server);
            const bool serves_more = step(server, client);
            if (!asks_more && !serves_more) return;
        }
        throw std::runtime_error("a handshake without end");
    }
    [[nodiscard]] bool is_established() const { return client.is_established() && server.is_established(); }

  private:
    /// @return whether there was anything to do
    static bool step(tls_session& of, tls_session& peer) {
        if (of.failure().empty() && !of.is_established()) static_cast<void>(of.handshake());
        const std::string sent = take_output(of);
        std::string_view rest = sent;
        while (!rest.empty() && peer.failure().empty()) {
            give_input(peer, rest);
            std::array<char, 1> none{};
            static_cast<void>(peer.is_established() ? peer.read(net::buffer(none)).step : peer.handshake());
            if (!peer.is_established()) continue;
            static_cast<void>(peer.read(net::buffer(none)));  // tickets, or an alert
        }
        return !sent.empty();
    }
};

/// Two connected streams with TLS, which have yet to shake hands, in one thread.
struct tls_streams {
    net::io_context io{1};
    loopback_pair pair = connect_loopback(io);
    timed_stream client{std::move(pair.near)};
    timed_stream server{std::move(pair.far)};

    explicit tls_streams(const std::string& name = "store.test") {
        client.start_tls(std::make_unique<tls_session>(made(asking()), name));
        server.start_tls(std::make_unique<tls_session>(made(serving())));
        for (timed_stream* const each : {&client, &server}) each->expires_after(std::chrono::seconds{30});
    }
};

}  // namespace seriesgate::testing
