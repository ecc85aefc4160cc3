/// The running gate's side of a takeover.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "http/server.hpp"
#include "net/async.hpp"
#include "process/persistence.hpp"
#include "process/serving.hpp"
#include "process/takeover_protocol.hpp"

namespace seriesgate {

/// Opens the takeover socket; nothing without a path, see takeover_path(). Errors are logged.
/// @param was_left whether this process has just taken over, and replaces the old socket.
[[nodiscard]] std::optional<message_listener> open_takeover_socket(const config& settings, bool was_left);

/// Lets a new process take over, see takeover_protocol.hpp. No connection is refused and no request is lost: new
/// connections wait in the kernel's queue, open requests finish, and idle connections close, so that senders connect to
/// the new process. If that process ends before it serves, this one continues. Threads: the acceptor thread.
class takeover_server {
  public:
    struct parts {
        serving_parts serving;
        persistence& kept;
        net::io_context& saving;             ///< the event loop that saves `kept`
        std::function<void()> leave_fleet;   ///< reports to the fleet; may wait for a second. Threads: any
        std::function<void()> accept_again;  ///< after a failed takeover
        std::function<void()> is_over;       ///< the new process serves
    };

  private:
    const parts of_;
    message_listener at_;
    throttled_log refusals_;
    bool has_given_ = false;
    std::weak_ptr<void> saves_;  // held by a save until its end, also after the takeover has stopped waiting

  public:
    /// What `of` refers to outlives this, and so does the acceptor's io_context.
    takeover_server(parts of, message_listener at) : of_(std::move(of)), at_(std::move(at)) {}

    /// Runs until a takeover succeeds. Spawn it once.
    net::awaitable<void> run();

    /// Whether another process has all, and serves even if this one ends.
    [[nodiscard]] bool has_given() const noexcept { return has_given_; }

  private:
    struct talk;
    /// @return why it failed; empty: this process ends.
    net::awaitable<std::string> hand_to(talk& with);
    net::awaitable<std::string> offer_sockets(talk& with);
    net::awaitable<std::string> give_all(talk& with);
    net::awaitable<std::string> finish_requests(talk& with);
    net::awaitable<std::string> save(talk& with);
    net::awaitable<std::string> give_place(talk& with);
    net::awaitable<void> go_on();
    void on_servers(void (server::*what)());
    void note_refusal(std::string_view why);
    void stop_taking();
    /// Whether an accept still runs.
    [[nodiscard]] bool accepts() const;
    void on_all_threads(const std::function<void(worker&)>& what);
};

}  // namespace seriesgate
