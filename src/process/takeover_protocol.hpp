/// The takeover protocol between two gates, and the unix socket for it.
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

namespace seriesgate {

struct message {
    std::string text{};
    std::vector<detached_socket> sockets{};
};

/// One end of a SOCK_SEQPACKET unix connection between two processes: each message arrives whole or not at all, with
/// open sockets in it. Only receive_within() waits. Threads: one at a time.
class message_socket {
    detached_socket socket_;

  public:
    static constexpr std::size_t text_bytes_max = 1024;
    static constexpr std::size_t sockets_max = 64;  ///< per message; SCM_MAX_FD is 253

    message_socket() = default;
    explicit message_socket(detached_socket connected) noexcept : socket_(std::move(connected)) {}

    [[nodiscard]] static result<message_socket, error_code> connect_to(const std::string& path);

    /// The peer's user at the time of connecting; -1 if unknown.
    [[nodiscard]] uid_t peer_user() const noexcept;
    /// Whether the peer process has certainly ended; waits up to `patience`. For a listener's socket: its creator.
    [[nodiscard]] bool peer_has_ended(std::chrono::milliseconds patience) const noexcept;

    /// @param descriptors copied to the peer; at most sockets_max.
    [[nodiscard]] error_code send(std::string_view text, std::span<const int> descriptors = {}) noexcept;

    /// @return net::error::would_block without a message, net::error::eof at the end, net::error::message_size if the
    /// text is longer than text_bytes_max or sockets were lost.
    [[nodiscard]] result<message, error_code> receive();
    /// Waits. @return net::error::timed_out without a message in time.
    [[nodiscard]] result<message, error_code> receive_within(std::chrono::steady_clock::duration limit);

    /// Makes later sends of the peer fail. Earlier messages can still be received.
    void refuse_more() noexcept;
    void close() noexcept { socket_ = {}; }
    [[nodiscard]] bool open() const noexcept { return socket_.open(); }
};

/// An addition to an error about `path`: "; what is there belongs to the user 1000". Empty if missing or this user's.
[[nodiscard]] std::string foreign_owner(const std::string& path);

/// A listening socket with its file, which only its owner can connect to. Threads: one at a time.
class message_listener {
    detached_socket socket_;
    socket_file file_;

  public:
    enum class place : std::uint8_t {
        free,      ///< replaces only a left-over socket
        given_up,  ///< the old gate has ended: replaces its socket
    };
    /// Throws boost::system::system_error. Threads: sets the umask briefly, so no other thread may create files.
    message_listener(const std::string& path, place is);

    /// @return net::error::would_block if no connection waits.
    [[nodiscard]] result<message_socket, error_code> accept() noexcept;
    [[nodiscard]] int native_handle() const noexcept { return socket_.native_handle(); }

    /// Leaves the file to the process that replaces it.
    void leave_file() noexcept { file_.forget(); }
};

/// The unix socket for takeovers: server.takeoverSocket, or `takeover` in state.dir. Empty: none.
[[nodiscard]] std::string takeover_path(const config& settings);

/// The messages in their order. The new gate begins. If the connection ends before `serve`, the running gate continues.
///
///     new gate                                running gate
///     seriesgate takeover 1
///                                             socket NAME [file]      one per listening socket, with the socket
///                                             that is all
///     go                                      stops accepting, and finishes its requests
///                                             wait                    about once a second meanwhile
///                                             connections NAME        only from version 0.1: idle connections
///     got                                     after each of them
///                                             yours                   all is saved, the lock of state.dir is free
///     ready                                   everything is loaded
///                                             serve                   no way back from here
namespace takeover {

inline constexpr std::string_view hello = "seriesgate takeover 1";
inline constexpr std::string_view socket = "socket ";
inline constexpr std::string_view with_file = " file";  ///< the socket has a file, which the new gate must remove
inline constexpr std::string_view that_is_all = "that is all";
inline constexpr std::string_view go = "go";
inline constexpr std::string_view wait = "wait";
inline constexpr std::string_view connections = "connections ";
inline constexpr std::string_view got = "got";
inline constexpr std::string_view yours = "yours";
inline constexpr std::string_view ready = "ready";
inline constexpr std::string_view serve = "serve";
inline constexpr std::string_view no = "no ";  ///< instead of any message, with the reason

/// Limit for the next message, if the peer has no work to do for it.
inline constexpr std::chrono::seconds answer_limit{5};
/// From `yours` to `ready`: the state of 100 million series takes some ten seconds to load.
inline constexpr std::chrono::seconds load_limit{60};
/// For the last save, in addition to server.drainTimeout.
inline constexpr std::chrono::seconds save_limit{60};
/// Longest silence while the peer sends `wait`.
inline constexpr std::chrono::seconds silence_limit{10};
inline constexpr std::chrono::seconds wait_interval{1};

}  // namespace takeover
}  // namespace seriesgate
