/// Looks names up while others work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/asio.hpp"
#include "net/socket.hpp"

namespace seriesgate {

/// Asks the system's resolver on a thread of Asio's. No clock ends one that hangs. Threads: the one of its io_context.
class name_resolver {
    struct state;
    std::unique_ptr<state> state_;

  public:
    using answer = std::function<void(error_code, std::vector<stream_endpoint>)>;

    explicit name_resolver(net::io_context& io);
    name_resolver(const name_resolver&) = delete;
    name_resolver& operator=(const name_resolver&) = delete;
    ~name_resolver();

    /// @param take is called later, from the io_context; with operation_aborted when the resolver goes before.
    void look_up(const std::string& host, std::uint16_t port, answer take);
};

}  // namespace seriesgate
