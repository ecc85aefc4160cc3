/// Authenticates a request after its header, before its body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/request_head.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// The proven sender of a request.
struct identity {
    std::string user{};          ///< empty: anonymous
    std::string bound_tenant{};  ///< the only tenant that it may write; empty: any
    bool authorization_is_ours = false;
};

struct connection_facts {
    std::string_view peer;              ///< IP address; empty for a unix socket
    std::string_view certificate_name;  ///< from the verified certificate; empty without one
};

/// Authenticates and authorizes one request. Another thread checks an unknown password, within
/// access_control::wait_max. `header` and `from` must outlive the call.
/// @param to null if the path does not exist.
/// @param who gets the identity, also on denial.
/// @return the answer on denial; nothing if granted. Threads: the worker's.
net::awaitable<std::optional<reply>> authenticate(const request_header& header, const route* to, connection_facts from,
                                                  worker& self, identity& who);

/// Adds the configured answer headers, without replacing existing ones.
void add_answer_headers(const access_control& access, http::fields& headers);

}  // namespace seriesgate
