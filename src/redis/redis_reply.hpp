/// Replies and errors of a server: types, a bounded reader, and the contents of special replies.
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/redis_config.hpp"
#include "core/result.hpp"

namespace seriesgate {

// --- Errors and replies.

struct redis_error {
    enum class kind : std::uint8_t {
        unreachable,    ///< no connection, or it broke; also known from an earlier attempt
        timeout,        ///< no answer within the limit: the command may have been executed, or may be yet
        protocol,       ///< the bytes are no reply of a Redis
        busy,           ///< LOADING, BUSY, TRYAGAIN, CLUSTERDOWN, MASTERDOWN, NOREPLICAS, or too many calls
        read_only,      ///< a replica
        out_of_memory,  ///< over the server's maxmemory
        denied,         ///< NOAUTH, WRONGPASS, NOPERM, protected mode
        other,
        count_
    };

    kind why = kind::other;
    std::string text;  ///< one line, without secrets; an error reply unchanged, up to redis_error_bytes_max
};

inline constexpr std::size_t redis_error_bytes_max = 256;

[[nodiscard]] std::string_view name_of(redis_error::kind from) noexcept;

/// Converts an error reply. If a command failed in a script of Redis 6, uses that command's error.
/// @param line without the minus sign
[[nodiscard]] redis_error error_of_reply(std::string_view line);

/// Whether the error reply has this code: `says(error, "NOSCRIPT")`.
[[nodiscard]] bool says(const redis_error& error, std::string_view code) noexcept;

struct reply_freed {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};

/// A tree of plain values: see redisReply::type.
using redis_reply = std::unique_ptr<redisReply, reply_freed>;

/// Never an error reply: that is a redis_error.
using redis_answer = result<redis_reply, redis_error>;

/// The text of a string, status or error; empty for others.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
    const bool has_text =
        reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS || reply.type == REDIS_REPLY_ERROR;
    return has_text ? std::string_view{reply.str, static_cast<std::size_t>(reply.len)} : std::string_view{};
}

// --- The reader, within bounds that hiredis lacks.

struct reply_shape {
    std::size_t elements = 0;
    bool is_too_deep = false;
};

/// Takes bytes in pieces of any size. Threads: one at a time.
class reply_reader {
    struct freed {
        void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
    };

    reply_shape shape_;  // of the incomplete reply; hiredis has its address
    std::unique_ptr<redisReader, freed> reader_;
    std::size_t bytes_ = 0;
    std::string fault_;

  public:
    static constexpr std::size_t bytes_max = 16 << 20;
    /// For a number, status or error: hiredis searches its end from the beginning with each piece.
    static constexpr std::size_t line_bytes_max = 64 * 1024;
    /// Over all arrays of a reply: an element takes some 80 bytes of memory, and six on the wire.
    static constexpr std::size_t elements_max = 256 * 1024;
    /// Depth of nested arrays. From 1.0 on hiredis has no bound, and frees them recursively.
    static constexpr std::size_t depth_max = 7;

    reply_reader();
    reply_reader(const reply_reader&) = delete;
    reply_reader& operator=(const reply_reader&) = delete;

    void take(std::string_view bytes);

    /// @return the next complete reply; nothing if more bytes are needed, or after a fault().
    [[nodiscard]] redis_reply next();

    /// Why the bytes are no reply, or are too many; empty if all is well. Final.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] std::string_view unread() const noexcept;
};

// --- Contents of special replies.

/// A field of an INFO reply; empty if missing.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view name) noexcept;

/// From SENTINEL GET-MASTER-ADDR-BY-NAME; nothing if the sentinel does not know the name.
[[nodiscard]] std::optional<host_port> sentinel_master(const redisReply& reply);

/// From ROLE: "master", "slave", "sentinel"; empty for other replies.
[[nodiscard]] std::string_view role_in(const redisReply& reply) noexcept;

/// All nodes of a CLUSTER SLOTS reply, each once, at most cluster_nodes_max.
/// @param asked host for addresses without one
[[nodiscard]] std::vector<host_port> cluster_nodes(const redisReply& reply, const host_port& asked);

inline constexpr std::size_t cluster_nodes_max = 64;

/// The target of "MOVED 3999 127.0.0.1:6381", or ASK.
struct redirection {
    bool once = false;  ///< ASK: for this command only
    host_port to;

    bool operator==(const redirection&) const = default;
};

/// @param asked as for cluster_nodes() @return nothing for other errors
[[nodiscard]] std::optional<redirection> redirection_in(const redis_error& error, const host_port& asked);

}  // namespace seriesgate
