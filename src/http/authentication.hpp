/// Who asks, before the body is read.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/request_head.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// Who a sender proved to be.
struct identity {
    std::string user{};          ///< empty: nobody in particular
    std::string bound_tenant{};  ///< the only one that it writes for; empty: any
    bool authorization_is_ours = false;
};

/// What a connection says of its sender.
struct connection_facts {
    std::string_view peer;              ///< its address; empty if that is none of IP
    std::string_view certificate_name;  ///< of its verified certificate; empty: there is none
};

/// Finds out who asks and whether that may be. A password that has not been seen before is checked by another thread,
/// and the sender waits for that, no longer than access_control::wait_max. What `header` and `from` refer to lives
/// until the end of it.
/// @param to null: no such path.
/// @param who is told also when the answer is no.
/// @return what to answer if it may not be.
/// Threads: the worker's.
net::awaitable<std::optional<reply>> authenticate(const request_header& header, const route* to, connection_facts from,
                                                  worker& self, identity& who);

/// Adds what every answer has, unless it has another of that name.
void add_answer_headers(const access_control& access, http::fields& headers);

}  // namespace seriesgate
