/// A request as it is written to an upstream.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <cstddef>
#include <memory>

#include "config/config.hpp"
#include "net/http_fields.hpp"
#include "upstream/request.hpp"

namespace seriesgate {

/// It needs nothing of the upstream_request any more, and may be written several times.
struct upstream_message {
    http::request<http::span_body<const char>> http;
    std::shared_ptr<const void> body_owner;

    [[nodiscard]] std::size_t body_bytes() const noexcept { return http.body().size(); }
};

upstream_message make_message(const upstream_config& settings, const store_door& door, const upstream_request& request);

}  // namespace seriesgate
