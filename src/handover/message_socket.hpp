/// Messages between two processes of one machine, with open sockets in them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "net/socket.hpp"
#include "net/socket_file.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
