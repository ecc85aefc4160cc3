/// What two gates say to each other while one takes the other's place, and where they meet.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "core/result.hpp"
#include "net/socket.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

// --- Messages between two processes of one machine, with open sockets in them.

struct message {
    std::string text{};
    std::vector<detached_socket> sockets{};
};

/// One end of a connection of messages (a unix socket, SOCK_SEQPACKET): each arrives whole or not at all. Nothing waits
/// but receive_within(). Threads: one at a time.
class message_socket {
    detached_socket socket_;

  public:
    static constexpr std::size_t text_bytes_max = 1024;
    static constexpr std::size_t sockets_max = 64;  ///< of one message; SCM_MAX_FD is 253

    message_socket() = default;
    explicit message_socket(detached_socket connected) noexcept : socket_(std::move(connected)) {}

    /// To who listens at that path.
    [[nodiscard]] static result<message_socket, error_code> connect_to(const std::string& path);

    /// Who is at the other end, as the system says since it has connected. Nobody (-1) if it does not.
    [[nodiscard]] uid_t peer_user() const noexcept;
    /// Whether the process at the other end has surely ended; waits so long for that. Of a listener: who made it.
    [[nodiscard]] bool peer_has_ended(std::chrono::milliseconds patience) const noexcept;

    /// @param descriptors that the other end gets copies of; at most sockets_max.
    [[nodiscard]] error_code send(std::string_view text, std::span<const int> descriptors = {}) noexcept;

    /// @return net::error::would_block if none has come, net::error::eof at the end, net::error::message_size for one
    /// that is longer than text_bytes_max or lost sockets on its way.
    [[nodiscard]] result<message, error_code> receive();
    /// Waits for it. @return net::error::timed_out if none comes in time.
    [[nodiscard]] result<message, error_code> receive_within(std::chrono::steady_clock::duration limit);

    /// What the other end sends from now on fails there. What it has sent before can still be received.
    void refuse_more() noexcept;
    void close() noexcept { socket_ = {}; }
    [[nodiscard]] bool open() const noexcept { return socket_.open(); }
};

/// "; what is there belongs to the user 1000", for behind an error with this path; empty if it is this process' own, or
/// nothing is there.
[[nodiscard]] std::string foreign_owner(const std::string& path);

/// Where others connect. Its file goes with it, and is its owner's alone to connect to. Threads: one at a time.
class message_listener {
    detached_socket socket_;
    socket_file file_;

  public:
    enum class place : std::uint8_t {
        free,      ///< only what a process has left behind is replaced
        given_up,  ///< whoever listens there does not any more: replaced
    };
    /// Throws boost::system::system_error.
    /// Threads: no other makes files meanwhile that are for more than their owner: the mask of modes is the process'.
    message_listener(const std::string& path, place is);

    /// @return net::error::would_block if nobody has come.
    [[nodiscard]] result<message_socket, error_code> accept() noexcept;
    [[nodiscard]] int native_handle() const noexcept { return socket_.native_handle(); }

    /// The file is left to who replaces it.
    void leave_file() noexcept { file_.forget(); }
};

/// The unix socket at which a gate that runs can be asked for its place: server.takeoverSocket, or `takeover` in
/// state.dir. Empty: nowhere.
[[nodiscard]] std::string takeover_path(const config& settings);

/// The words, in their order. Each is a message of message_socket; the new gate begins, and any end of the connection
/// before `serve` leaves the running gate in its place.
///
///     new gate                                the gate that runs
///     seriesgate takeover 1
///                                             socket NAME [file]      with one socket each: those that listen
///                                             that is all
///     go                                      accepts nobody any more, and finishes what it has begun
///                                             wait                    about once a second, as long as that takes
///                                             connections NAME        with those that lie between two requests
///     got                                     after each of them
///                                             yours                   all is saved, the lock of state.dir is free
///     ready                                   has loaded all of it
///                                             serve                   from here on there is no way back
namespace takeover {

inline constexpr std::string_view hello = "seriesgate takeover 1";
inline constexpr std::string_view socket = "socket ";
inline constexpr std::string_view with_file = " file";  ///< the socket has one, for the new gate to remove
inline constexpr std::string_view that_is_all = "that is all";
inline constexpr std::string_view go = "go";
inline constexpr std::string_view wait = "wait";
inline constexpr std::string_view connections = "connections ";
inline constexpr std::string_view got = "got";
inline constexpr std::string_view yours = "yours";
inline constexpr std::string_view ready = "ready";
inline constexpr std::string_view serve = "serve";
inline constexpr std::string_view no = "no ";  ///< instead of anything, with why not

/// What each waits for the other's next message, where that has nothing to do for it.
inline constexpr std::chrono::seconds answer_limit{5};
/// From `yours` to `ready`: the state of 100 million series takes some ten seconds to load.
inline constexpr std::chrono::seconds load_limit{60};
/// For the last save, beyond server.drainTimeout.
inline constexpr std::chrono::seconds save_limit{60};
/// The longest silence of a gate that says `wait`.
inline constexpr std::chrono::seconds silence_limit{10};
inline constexpr std::chrono::seconds wait_interval{1};

}  // namespace takeover
}  // namespace seriesgate
