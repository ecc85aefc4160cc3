/// Handlers asked without a connection.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/metrics.hpp"
#include "http/inflight.hpp"
#include "http/route_table.hpp"
#include "net/async.hpp"

namespace seriesgate::testing {

/// What a request says.
struct asked_request {
    std::string_view query{};
    bool is_head = false;
    http::fields headers{};
    std::string body{};
};

/// Waits for the answer on `io`, for as long as there is something to wait for.
inline reply answer_of(const route& to, const asked_request& asked, net::io_context& io) {
    gauge held;
    inflight_room room{held, 1 << 20, 1 << 10};
    inflight_lease memory{room};
    http_request request{
        .headers = asked.headers, .query = asked.query, .is_head = asked.is_head, .body = asked.body, .memory = memory};
    std::optional<reply> got;
    net::co_spawn(io, to.answer(request), [&got](const std::exception_ptr& failure, reply answer) {
        if (failure) std::rethrow_exception(failure);
        got = std::move(answer);
    });
    io.restart();
    while (!got && io.run_one() != 0) continue;
    return std::move(got).value();
}

inline reply answer_of(const route& to, const asked_request& asked) {
    net::io_context io{1};
    return answer_of(to, asked, io);
}

}  // namespace seriesgate::testing
