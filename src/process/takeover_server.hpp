/// A gate that runs gives its place to another process.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "http/idle_connections.hpp"
#include "http/server.hpp"
#include "net/asio.hpp"
#include "process/persistence.hpp"
#include "process/serving.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {

/// From now on connections between two requests are put there while the gate hands over. Before the workers run.
void let_go_to(idle_connections& idle, serving_thread& acceptor, const worker_threads& workers);

/// Where another gate asks for this one's place; nothing where there is no place to meet, see takeover_path(). If it
/// cannot be opened, the log says so.
/// @param was_left whether a gate has just left its place to this one.
[[nodiscard]] std::optional<message_listener> open_takeover_socket(const config& settings, bool was_left);

/// Waits for a process that wants the place, see handover/takeover.hpp. No connection is refused and no request is
/// lost: who connects meanwhile waits in the system's queue, what has been begun is finished, and connections between
/// two requests go to the new process as they are. If that ends before it serves, everything goes on here as before.
/// Threads: the front desk's.
class takeover_server {
  public:
    struct parts {
        server& senders;
        server* admin_server;  ///< none: people are served where senders are
        serving_thread& acceptor;
        const worker_threads& workers;
        const shared_stores& stores;
        idle_connections& idle;
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
    net::awaitable<std::string> give_all(talk& with, std::vector<idle_connections::one>& connections);
    net::awaitable<std::string> finish_requests(talk& with);
    net::awaitable<std::string> save(talk& with);
    net::awaitable<std::string> give_connections(talk& with, std::vector<idle_connections::one>& all);
    net::awaitable<std::string> give_place(talk& with);
    net::awaitable<void> go_on(std::vector<idle_connections::one> connections);
    void note_refusal(std::string_view why);
    void stop_taking();
    /// Whether somebody may still be accepted.
    [[nodiscard]] bool accepts() const;
    void on_all_threads(const std::function<void(worker&)>& what);
};

}  // namespace seriesgate
