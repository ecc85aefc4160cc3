/// Which paths there are, and who answers for them.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_request.hpp"
#include "http/reply.hpp"
#include "net/asio.hpp"

namespace seriesgate {

/// Answers one request. It has been checked, and is there until the answer is. Threads: the worker's.
using request_handler = std::function<net::awaitable<reply>(http_request&)>;

enum class route_kind : std::uint8_t {
    ingestion,  ///< senders': counted by status and duration, and among the memory of all requests until it is answered
    admin,      ///< people's and probes': takes no part in what it tells of
};

struct route {
    std::string_view path;     ///< whole, without query; it outlives the route. May have a mark for the tenant
    std::string_view methods;  ///< as the Allow header wants them: "GET, HEAD"; a literal
    route_kind kind = route_kind::admin;
    request_handler answer;
};

/// A few routes, each with a path of its own. Threads: one; it does not change once it is made.
class route_table {
    std::vector<route> routes_;

  public:
    route_table(std::initializer_list<route> routes) : route_table(std::vector<route>{routes}) {}
    explicit route_table(std::vector<route> routes);

    /// Those of one kind.
    [[nodiscard]] route_table of(route_kind kind) const;

    /// @return null if there is no such path. One with a mark for the tenant is not found by that.
    [[nodiscard]] const route* find(std::string_view path) const noexcept;
    /// The route with such a mark that a path fits. @param tenant replaced by the one that the path names.
    [[nodiscard]] const route* find_by_tenant(std::string_view path, std::string& tenant) const;
    [[nodiscard]] const std::vector<route>& all() const noexcept { return routes_; }
};

}  // namespace seriesgate
