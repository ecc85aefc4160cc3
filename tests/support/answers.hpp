/// Handlers asked without a connection.
#pragma once

#include <string>
#include <string_view>

#include "base/metrics.hpp"
#include "http/inflight.hpp"
#include "http/route_table.hpp"
#include "net/async.hpp"
#include "support/outcome.hpp"

namespace seriesgate::testing {

/// What a request says.
struct asked_request {
    std::string_view query{};
    bool is_head = false;
    http::fields headers{};
    std::string body{};
};

inline reply answer_of(const route& to, const asked_request& asked, net::io_context& io) {
    gauge held;
    inflight_room room{held, 1 << 20, 1 << 10};
    inflight_lease memory{room};
    http_request request{
        .headers = asked.headers, .query = asked.query, .is_head = asked.is_head, .body = asked.body, .memory = memory};
    return result_of(io, to.answer(request));
}

inline reply answer_of(const route& to, const asked_request& asked) {
    net::io_context io{1};
    return answer_of(to, asked, io);
}

}  // namespace seriesgate::testing
