/// A request as it is written to an upstream.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "config/config.hpp"
#include "net/http_fields.hpp"
#include "upstream/request.hpp"

namespace seriesgate {

/// It needs nothing of the upstream_request any more, and may be written several times.
struct upstream_message {
    http::request<http::span_body<const char>> http;
    std::shared_ptr<const void> body_owner;
    const store_backend* to;  ///< whom it is for
    std::string query;        ///< of the sender's, what goes on
    std::string tenant{};     ///< for backends that name it in their path
    bool shows_us = false;    ///< whom the store lets in is us, and not the sender
    bool keeps_host;          ///< the sender's Host, see upstream_config::host_header

    [[nodiscard]] std::size_t body_bytes() const noexcept { return http.body().size(); }
};

/// @param backend must outlive it.
upstream_message make_message(const upstream_config& settings, const store_backend& backend,
                              const upstream_request& request);

/// Makes it one for another backend of the same store.
void readdress(upstream_message& message, const store_backend& backend);

}  // namespace seriesgate
