/// What a listener offers on one thread.
#pragma once

#include <functional>

#include "http/connections.hpp"
#include "http/route_table.hpp"
#include "http/worker.hpp"

namespace seriesgate {

/// A session answers by its routes. Handlers belong to a thread, so every thread has a service of its own.
/// Threads: the worker's.
struct service {
    worker& self;
    route_table routes;
    /// Of the front desk only, which answers GET and HEAD: takes connections with any other request.
    std::function<void(sender_connection)> pass_on{};
    /// While the gate hands over to another process: takes plain connections that lie between two requests.
    std::function<void(sender_connection)> give_away{};
};

}  // namespace seriesgate
