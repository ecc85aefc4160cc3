/// The connections from senders: how many there are, whose, and which of them can be given up.
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

/// What a connection is about.
enum class connection_stage : std::uint8_t {
    waiting,        ///< for the first byte of a request: nobody owes anybody anything
    receiving,      ///< from the first byte of a request to its last
    working,        ///< from then on until it is answered: not given up for anybody
    tls_handshake,  ///< hands: TLS has not begun yet
    count_
};

/// How many connections may be open.
struct connection_bounds {
    std::size_t total = 1;
    std::size_t per_peer = 0;       ///< 0: no bound of its own
    std::size_t handshakes = 1024;  ///< that have not come to an end; one peer may have a part of it
};

class connection_lease;

/// Bounds connections. At a bound one that has shaken hands for long makes room, or else the one that has waited
/// longest, or else the one that has been sending its request for longest, if that is long. If there is none, a few
/// more come in as guests, so that they can be told to come again, and so that health is answered even then.
///
/// To give a connection up is to shut it down: the thread that it belongs to finds its end when it looks, and until
/// then the socket is open. Only a few can be in that state at a time, so there are never more than open_max() sockets.
///
/// Threads: any. Asked a few times a request; the lock is held for a few steps in lists, at most for one shutdown.
class connection_registry {
  public:
    using clock = monotonic_clock;

    /// A sender that needs longer than this for its request makes room for others when room is needed.
    static constexpr auto slow_after = std::chrono::seconds{1};
    static constexpr std::size_t overflow_max = 64;
    /// How many handshakes one peer may have of all: whoever begins many gives up its own.
    static constexpr std::size_t handshakes_of_peer_max(std::size_t all) noexcept { return all / 8 + 1; }
    /// Given up and still open: of the regular connections, and of guests, whose thread is never busy for long.
    static constexpr std::size_t given_up_max(std::size_t total) noexcept { return total / 8 + 8; }
    static constexpr std::size_t overflow_evicted_max = 16;
    /// Sockets open at once when `total` connections may be.
    static constexpr std::size_t open_max(std::size_t total) noexcept {
        return total + given_up_max(total) + overflow_max + overflow_evicted_max;
    }

    /// @param metrics counts what is open, given up and turned away.
    connection_registry(connection_bounds bounds, http_metrics& metrics) : metrics_(metrics), bounds_(bounds) {
        assert(bounds.total != 0);
        regulars_.given_up_max = given_up_max(bounds.total);
        overflow_.given_up_max = overflow_evicted_max;
    }
    connection_registry(const connection_registry&) = delete;
    connection_registry& operator=(const connection_registry&) = delete;

    /// Takes a connection in, waiting, and gives another up if there has to be room.
    /// @param socket must be open for as long as the lease is held.
    /// @param peer nothing for one of a unix socket: it is bounded with all others only.
    /// @return an empty lease if there is no room even for a guest: the connection is to be closed, and is counted.
    connection_lease admit(socket_handle socket, const std::optional<net::ip::address>& peer,
                           clock::time_point now = clock::now());
    /// The same for one that begins with a handshake. Where there are as many as may be, the oldest makes room.
    connection_lease admit_to_handshake(socket_handle socket, const std::optional<net::ip::address>& peer,
                                        clock::time_point now = clock::now());

    /// Makes room because there are no descriptors left: gives up one, and those above `total`, which is the bound from
    /// now on if it is lower than that before.
    void lower(std::size_t total, clock::time_point now = clock::now());
    [[nodiscard]] std::size_t total() const;

    /// For who wants to end without an error for anybody. Those that are in neither lie between two requests.
    struct unfinished {
        std::size_t busy = 0;     ///< a request has begun, and its answer has not been written
        std::size_t unasked = 0;  ///< nothing has been asked yet on a connection that somebody has just opened
    };
    [[nodiscard]] unfinished count_unfinished() const;
    /// All sockets that are open, whatever their stage.
    [[nodiscard]] std::size_t open_count() const;

  private:
    friend class connection_lease;
    struct entry;
    using row = std::list<entry*>;

    /// Some of the connections, in the order in which they came to be in their stage.
    struct scope {
        std::array<row, static_cast<std::size_t>(connection_stage::count_)> rows;

        std::size_t given_up = 0;  ///< and still open; they are in no row. Not counted for peers
        std::size_t given_up_max = 0;

        row& at(connection_stage stage) { return rows[static_cast<std::size_t>(stage)]; }
        [[nodiscard]] std::size_t count(connection_stage stage) const {
            return rows[static_cast<std::size_t>(stage)].size();
        }
        [[nodiscard]] std::size_t size() const noexcept;
        entry* dispensable(clock::time_point now);
    };
    using peer_map = std::map<net::ip::address, scope>;

    connection_lease take_in(socket_handle socket, connection_stage first, const std::optional<net::ip::address>& peer,
                             clock::time_point now);
    static void append(scope& to, row& one, connection_stage first);
    bool make_room_to_shake(const std::optional<net::ip::address>& peer);
    bool give_up_oldest(scope& within, connection_stage stage, connection_bound reason);
    std::optional<connection_bound> bound_reached(const std::optional<net::ip::address>& peer, clock::time_point now);
    bool make_room(scope& within, std::size_t bound, connection_bound reason, clock::time_point now);
    bool give_up_one(scope& within, connection_bound reason, clock::time_point now);
    void give_up(entry& chosen, connection_bound reason);
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
    peer_map peers_;  // those with connections; guests are nobody's
};

/// The place of one connection in the registry, given back when it goes. It must go before the socket is closed.
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

    /// @return false if the connection has been given up: it is to be closed, and what it has sent is not worked on.
    [[nodiscard]] bool enter(connection_stage next,
                             connection_registry::clock::time_point now = connection_registry::clock::now());

    /// Whether a request has begun on this connection.
    [[nodiscard]] bool has_asked() const noexcept;

    /// For a guest the bound that it is over.
    [[nodiscard]] std::optional<connection_bound> over() const noexcept;
};

/// A connection on its way to the thread that serves it. The lease goes before the socket.
struct sender_connection {
    stream_socket socket;
    connection_lease lease;
    std::string read_ahead{};
    std::unique_ptr<tls_session> tls{};  ///< none: plain, or TLS has yet to begin
};

// --- How many connections the process has descriptors for.

/// What takes descriptors besides the connections from senders.
struct descriptor_use {
    std::size_t workers = 1;            ///< without the front desk, and who shakes hands
    std::size_t idle_upstream_max = 0;  ///< connections to the upstream that a worker keeps open, at most
    std::size_t upstream_max = std::numeric_limits<std::size_t>::max();  ///< of all workers, idle ones or not
    bool has_replicas = false;          ///< a request may have several connections, and they may outlast it
    std::size_t admin_connections = 0;  ///< that admin.listen may have, beyond those that are asked about
};

/// The most connections for which the descriptors suffice whatever happens: each may have one to the upstream while its
/// request is worked on, some stay open without a request, and files, name lookups and event queues take their share,
/// the state file among them. At least 8: a process that has no room for those is beyond help.
/// @param descriptors the process' limit.
std::size_t connections_that_fit(std::uint64_t descriptors, const descriptor_use& others) noexcept;

/// How many descriptors the process may have (RLIMIT_NOFILE, the soft limit).
std::uint64_t descriptor_limit() noexcept;

/// Raises the soft limit of descriptors (RLIMIT_NOFILE) to the hard one, since nothing here uses select().
/// @return the limit that holds now.
std::uint64_t raise_descriptor_limit() noexcept;

// --- What is done when the process has run out of descriptors.

/// Closes connections of senders, for whoever is in need. It was made sure at the start that this does not happen, so
/// the limit is a lower one by now. Threads: any, one at a time.
class descriptor_relief {
    connection_registry& senders_;
    const descriptor_use others_;

  public:
    /// @param others what else takes descriptors.
    descriptor_relief(connection_registry& senders, const descriptor_use& others)
        : senders_(senders), others_(others) {}

    void make_room();
};

}  // namespace seriesgate
