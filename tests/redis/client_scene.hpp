/// A client, and the one thread that it runs on.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include "redis/redis_client.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

using words = std::vector<std::string>;
using clock = std::chrono::steady_clock;

inline net::awaitable<void> keep(net::awaitable<redis_answer> asked, std::optional<redis_answer>& got) {
    got = co_await std::move(asked);
}

inline bool is_answered(const redis_answer& of) {
    return of.has_value();
}

/// Whether an answer is a text with this in it.
inline auto holds(std::string_view what) {
    return
        [what](const redis_answer& of) { return of && seriesgate::text_of(**of).find(what) != std::string_view::npos; };
}

/// Of a text or a number; of an error its kind and text.
inline std::string shown(const redis_answer& of) {
    if (!of) return std::string{name_of(of.error().why)} + ": " + of.error().text;
    if ((*of)->type == REDIS_REPLY_INTEGER) return std::to_string((*of)->integer);
    if ((*of)->type == REDIS_REPLY_NIL) return "nil";
    return std::string{seriesgate::text_of(**of)};
}

struct client_scene {
    std::optional<net::io_context> own_io;  ///< where nobody else is on its thread
    net::io_context& io;
    redis_config config;
    redis_shared shared;
    redis_client client;
    std::chrono::milliseconds limit = std::chrono::seconds{10};  ///< of calls that name none

    client_scene(net::io_context& where, redis_config given) : client_scene(std::move(given), &where) {}
    explicit client_scene(redis_config given, net::io_context* where = nullptr)
        : io(where ? *where : own_io.emplace(1)),
          config(std::move(given)),
          shared(config),
          client(io, config, shared) {}

    /// What files have changed counts from now on, see debounced_file.
    void let_files_settle() {
        const auto now = monotonic_clock::now();
        shared.refresh_files({.now = now});
        shared.refresh_files({.now = now + debounced_file::settling});
    }

    /// @param got gets the answer when there is one; it must outlive the call
    void begin(words command, std::optional<redis_answer>& got, std::optional<std::chrono::milliseconds> within = {}) {
        net::co_spawn(io, keep(client.call(std::move(command), within.value_or(limit)), got), net::detached);
    }
    redis_answer await(const std::optional<redis_answer>& got) {
        io.restart();
        while (!got && io.run_one_for(std::chrono::seconds{20}) != 0) continue;
        REQUIRE(got.has_value());
        return std::move(const_cast<std::optional<redis_answer>&>(got).value());
    }
    redis_answer call(words command, std::optional<std::chrono::milliseconds> within = {}) {
        std::optional<redis_answer> got;
        begin(std::move(command), got, within);
        return await(got);
    }
    std::string say(words command) { return shown(call(std::move(command))); }
    /// Of a script that may look at the run_id, or not: it is the last of its arguments.
    redis_answer call_script(const redis_script& script, words arguments) {
        arguments.emplace_back();
        std::optional<redis_answer> got;
        auto asked = client.call_script(script, std::move(arguments), limit);
        net::co_spawn(io, keep(std::move(asked), got), net::detached);
        return await(got);
    }
    /// Lets happen what happens of itself, until it has; at most 20 s.
    template <class Condition>
    void run_until(Condition has_happened) {
        const auto end = clock::now() + std::chrono::seconds{20};
        io.restart();
        while (!has_happened() && clock::now() < end) io.run_one_for(std::chrono::milliseconds{10});
        REQUIRE(has_happened());
    }
    /// Calls again and again, for what a server needs time for; at most 30 s.
    template <class Condition>
    std::string say_until(const words& command, Condition is_good) {
        const auto end = clock::now() + std::chrono::seconds{30};
        redis_answer got = call(command);
        while (!is_good(got) && clock::now() < end) {
            io.restart();
            io.run_for(std::chrono::milliseconds{20});
            client.maintain();
            got = call(command);
        }
        return shown(got);
    }
    std::string say_until_answered(const words& command) { return say_until(command, is_answered); }
};

}  // namespace seriesgate::testing
