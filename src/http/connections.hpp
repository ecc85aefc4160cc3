/// The registry of sender connections: bounds their number and closes expendable ones.
#pragma once

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "http/http_metrics.hpp"
#include "net/socket.hpp"
#include "net/tls_session.hpp"

namespace seriesgate {

enum class connection_stage : std::uint8_t {
    waiting,        ///< for the first byte of a request; no request is open
    receiving,      ///< from the first byte of a request to its last
    working,        ///< until the answer is written; never closed for others
    tls_handshake,  ///< handshake in progress; or the PROXY header before it, also without TLS
    count_
};

struct connection_bounds {
    std::size_t total = 1;
    std::size_t per_peer = 0;       ///< 0: unlimited
    std::size_t handshakes = 1024;  ///< in progress at once; see handshakes_of_peer_max()
};

class connection_lease;

/// Bounds the number of connections. At a bound it closes one: the oldest TLS handshake if slow, else the longest
/// waiting one, else the longest receiving one if slow.
/// Without any of these it admits a few overflow connections: they get 503, or an answer to a health check.
///
/// "Closing" is a shutdown: the socket stays open until its own thread notices. given_up_max() bounds that state, so
/// there are never more than open_max() sockets.
/// Threads: any. Called a few times per request; the lock covers a few list steps and at most one shutdown.
class connection_registry {
  public:
    using clock = monotonic_clock;

    /// A slow handshake or request takes at least this long, and may be closed for others.
    static constexpr auto slow_after = std::chrono::seconds{1};
    static constexpr std::size_t overflow_max = 64;
    /// Handshakes of one peer, out of `all`. A peer that starts more loses its own oldest one.
    static constexpr std::size_t handshakes_of_peer_max(std::size_t all) noexcept { return all / 8 + 1; }
    /// Bounds sockets shut down but still open. Overflow needs fewer: the acceptor thread is never busy for long.
    static constexpr std::size_t given_up_max(std::size_t total) noexcept { return total / 8 + 8; }
    static constexpr std::size_t overflow_evicted_max = 16;
    /// Most sockets open at once, for `total` connections.
    static constexpr std::size_t open_max(std::size_t total) noexcept {
        return total + given_up_max(total) + overflow_max + overflow_evicted_max;
    }

    connection_registry(connection_bounds bounds, http_metrics& metrics) : metrics_(metrics), bounds_(bounds) {
        assert(bounds.total != 0);
        regulars_.given_up_max = given_up_max(bounds.total);
        overflow_.given_up_max = overflow_evicted_max;
    }

    /// Registers a connection, and makes room if necessary.
    /// @param socket must stay open until the lease ends.
    /// @param peer nothing for a unix socket, and until set_sender(): only the total bounds it.
    /// @param first waiting, or tls_handshake: at maxHandshakes the oldest handshake is closed.
    /// @return an empty lease if not even an overflow place is free. It is counted; close the connection.
    connection_lease admit(socket_handle socket, const std::optional<net::ip::address>& peer,
                           clock::time_point now = clock::now(), connection_stage first = connection_stage::waiting);

    /// Out of descriptors: closes at least one expendable connection, and more down to `total`, the bound from now on.
    void lower(std::size_t total, clock::time_point now = clock::now());
    [[nodiscard]] std::size_t total() const;

    /// Connections to wait for before an orderly end. All others are idle between two requests.
    struct unfinished {
        std::size_t busy = 0;     ///< a request has begun and is not answered
        std::size_t unasked = 0;  ///< new, without a request so far
    };
    [[nodiscard]] unfinished count_unfinished() const;
    [[nodiscard]] std::size_t open_count() const;

    /// In a takeover nobody waits for slow handshakes.
    void give_up_slow_handshakes(clock::time_point now = clock::now());

  private:
    friend class connection_lease;
    struct entry;
    using row = std::list<entry*>;

    /// A set of connections, by stage. Each list has the oldest in its stage first.
    struct scope {
        std::array<row, static_cast<std::size_t>(connection_stage::count_)> rows;

        std::size_t given_up = 0;  ///< shut down but still open; in no list. Not counted per peer
        std::size_t given_up_max = 0;

        row& at(connection_stage stage) { return rows[static_cast<std::size_t>(stage)]; }
        [[nodiscard]] std::size_t count(connection_stage stage) const {
            return rows[static_cast<std::size_t>(stage)].size();
        }
        [[nodiscard]] std::size_t size() const noexcept;
        entry* dispensable(clock::time_point now);
    };
    using peer_map = std::map<net::ip::address, scope>;

    /// Holds its list nodes from the start, so that a change of stage allocates nothing.
    struct entry {
        socket_handle socket;
        clock::time_point since;
        std::optional<connection_bound> over{};    ///< for an overflow connection
        std::optional<net::ip::address> sender{};  ///< of a proxy's connection
        scope* house = nullptr;                    ///< regulars_ or overflow_
        row::iterator in_house{};
        std::optional<peer_map::iterator> peer{};
        row::iterator of_peer{};
        connection_stage stage = connection_stage::waiting;
        bool given_up = false;
        bool has_asked = false;  ///< since it was opened
    };

    static void append(scope& to, row& one, connection_stage first);
    bool set_sender(entry& which, const net::ip::address& sender, clock::time_point now);
    bool make_room_for_handshake(const std::optional<net::ip::address>& peer);
    bool make_room_among_handshakes_of(const std::optional<net::ip::address>& peer);
    bool make_room_for_handshake_in(scope& those, std::size_t handshakes_max);
    std::optional<connection_bound> bound_reached(const std::optional<net::ip::address>& peer, clock::time_point now);
    bool make_room(scope& within, std::size_t bound, connection_bound reason, clock::time_point now);
    /// @param chosen may be null. @return false if it must stay, or too many are given up already.
    bool give_up(entry* chosen, connection_bound reason);
    bool enter(entry& which, connection_stage next, clock::time_point now);
    void leave(entry& which) noexcept;
    void forget(entry& which) noexcept;

    http_metrics& metrics_;
    mutable std::mutex mutex_;
    connection_bounds bounds_;
    scope regulars_;
    scope overflow_;
    std::size_t unasked_ = 0;
    std::size_t open_ = 0;
    peer_map peers_;  // only peers with connections; overflow connections have none
};

/// The registration of one connection. Destroy it before closing the socket, whose descriptor number is then reused.
/// Threads: one at a time.
class connection_lease {
    struct leave {
        connection_registry* registry;
        void operator()(connection_registry::entry* which) const noexcept;
    };
    std::unique_ptr<connection_registry::entry, leave> entry_;

    friend class connection_registry;
    connection_lease(connection_registry& registry, std::unique_ptr<connection_registry::entry> which);

  public:
    connection_lease() = default;
    explicit operator bool() const noexcept { return entry_ != nullptr; }

    /// @return false if the registry has closed the connection: stop, and do not process its data.
    [[nodiscard]] bool enter(connection_stage next,
                             connection_registry::clock::time_point now = connection_registry::clock::now()) {
        return entry_.get_deleter().registry->enter(*entry_, next, now);
    }

    /// From now on a proxy's connection counts as its sender's, with that peer's bounds; it may become an overflow one.
    /// Admit it without a peer, and call this at most once.
    /// @return false if it has been closed, or not even an overflow place is free (counted): stop.
    [[nodiscard]] bool set_sender(const net::ip::address& sender,
                                  connection_registry::clock::time_point now = connection_registry::clock::now()) {
        return entry_.get_deleter().registry->set_sender(*entry_, sender, now);
    }
    /// Nothing until set_sender(): the socket's own address holds.
    [[nodiscard]] const std::optional<net::ip::address>& sender() const noexcept { return entry_->sender; }

    /// Whether a request has ever begun on this connection.
    [[nodiscard]] bool has_asked() const noexcept { return entry_->has_asked; }

    /// The exceeded bound of an overflow connection.
    [[nodiscard]] std::optional<connection_bound> exceeded_bound() const noexcept { return entry_->over; }
};

/// A connection on its way to its thread. The lease goes before the socket.
struct sender_connection {
    stream_socket socket;
    connection_lease lease;
    std::string read_ahead{};
    std::unique_ptr<tls_session> tls{};  ///< null: plain, or before the handshake
};

// --- The number of connections for which descriptors suffice.

struct descriptor_use {
    std::size_t workers = 1;            ///< without acceptor and handshake thread
    std::size_t idle_upstream_max = 0;  ///< idle upstream connections kept per worker, at most
    std::size_t upstream_max = std::numeric_limits<std::size_t>::max();  ///< of all workers, idle ones included
    bool has_replicas = false;          ///< a request may use several upstream connections, and they may outlive it
    std::size_t admin_connections = 0;  ///< of admin.listen, in addition
};

/// The most connections for which the process' limit of descriptors suffices in the worst case. Each may need an
/// upstream connection. Idle upstream connections, files, name lookups and event queues come on top. At least 8, even
/// if that is too many.
std::size_t connections_that_fit(std::uint64_t descriptors, const descriptor_use& others) noexcept;

/// The current soft limit of descriptors (RLIMIT_NOFILE).
std::uint64_t descriptor_limit() noexcept;

/// Raises the soft limit (RLIMIT_NOFILE) to the hard one. Safe, since the gate never uses select().
/// @return the limit now in force.
std::uint64_t raise_descriptor_limit() noexcept;

/// Closes sender connections when the process runs out of descriptors. At the start they sufficed, so the limit was
/// lowered since. Threads: any, one at a time.
struct descriptor_relief {
    connection_registry& senders;
    const descriptor_use& others;

    void make_room();
};

}  // namespace seriesgate
