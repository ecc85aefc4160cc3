/// A gate that runs gives its place to another process.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "http/server.hpp"
#include "net/asio.hpp"
#include "process/persistence.hpp"
#include "process/serving.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {

/// Where another gate asks for this one's place; nothing where there is no place to meet, see takeover_path(). If it
/// cannot be opened, the log says so.
/// @param was_left whether a gate has just left its place to this one.
[[nodiscard]] std::optional<message_listener> open_takeover_socket(const config& settings, bool was_left);

/// Waits for a process that wants to take over, see takeover_protocol.hpp. No connection is refused and no request is
/// lost: new connections wait in the system's queue, requests that have begun are finished, and idle connections are
/// closed, so that their senders connect to the new process. If that ends before it serves, this one goes on.
/// Threads: the front desk's.
class takeover_server {
  public:
    struct parts {
        server& senders;
        server* admin_server;  ///< none: people are served where senders are
        serving_thread& acceptor;
        const worker_threads& workers;
        const shared_stores& stores;
        persistence& kept;
        net::io_context& saving;             ///< where `kept` is saved
        std::function<void()> leave_fleet;   ///< what a fleet must know is told. May wait for a second. Threads: any
        std::function<void()> accept_again;  ///< after a pause
        std::function<void()> is_over;       ///< the place is somebody else's
    };

  private:
    const parts of_;
    message_listener at_;
    throttled_log refusals_;
    std::atomic<bool> is_saving_ = false;  // also for who has given up waiting for it

  public:
    /// What `of` refers to outlives this, and so does the io_context of the front desk.
    takeover_server(parts of, message_listener at) : of_(std::move(of)), at_(std::move(at)) {}

    /// Until the place is somebody else's. Spawn it once.
    net::awaitable<void> run();

  private:
    struct talk;
    /// @return why nothing came of it; empty if this process is to end.
    net::awaitable<std::string> hand_to(talk& with);
    net::awaitable<std::string> offer_sockets(talk& with);
    net::awaitable<std::string> give_all(talk& with);
    net::awaitable<std::string> finish_requests(talk& with);
    net::awaitable<std::string> save(talk& with);
    net::awaitable<std::string> give_place(talk& with);
    net::awaitable<void> go_on();
    void note_refusal(std::string_view why);
    void stop_taking();
    /// Whether somebody may still be accepted.
    [[nodiscard]] bool accepts() const;
    void on_all_threads(const std::function<void(worker&)>& what);
};

}  // namespace seriesgate
