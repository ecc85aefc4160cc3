/// An answer of the server, as hiredis makes it.
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

// --- Why a command has no answer.

struct redis_error {
    enum class kind : std::uint8_t {
        unreachable,    ///< no connection, or it was lost; also when that is known from before, and nothing was tried
        timeout,        ///< no answer within the limit: the command may have been executed, or may be yet
        protocol,       ///< what came is no answer of a Redis
        busy,           ///< not now: LOADING, BUSY, TRYAGAIN, CLUSTERDOWN, MASTERDOWN, NOREPLICAS, or too many calls
        read_only,      ///< a replica
        out_of_memory,  ///< over the server's maxmemory
        denied,         ///< NOAUTH, WRONGPASS, NOPERM, protected mode
        other,          ///< any other error reply
        count_
    };

    kind why = kind::other;
    std::string text;  ///< one line, without secrets; of an error reply as it came, up to redis_error_bytes_max
};

inline constexpr std::size_t redis_error_bytes_max = 256;

/// "unreachable", "out_of_memory".
[[nodiscard]] std::string_view name_of(redis_error::kind from) noexcept;

/// An error reply. A script of Redis 6 that a command has failed in is read by that command's error.
/// @param line as it came, without the minus sign
[[nodiscard]] redis_error error_of_reply(std::string_view line);

/// Whether an error reply says so: `says(error, "NOSCRIPT")`.
[[nodiscard]] bool says(const redis_error& error, std::string_view code) noexcept;

struct reply_freed {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};

/// A tree of plain values: see redisReply::type.
using redis_reply = std::unique_ptr<redisReply, reply_freed>;

/// What a call comes to. Never an error reply: that is a redis_error.
using redis_answer = result<redis_reply, redis_error>;

/// Of a string, a status or an error; empty for anything else.
[[nodiscard]] inline std::string_view text_of(const redisReply& reply) noexcept {
    const bool has_text =
        reply.type == REDIS_REPLY_STRING || reply.type == REDIS_REPLY_STATUS || reply.type == REDIS_REPLY_ERROR;
    return has_text ? std::string_view{reply.str, static_cast<std::size_t>(reply.len)} : std::string_view{};
}

// --- Replies out of a connection's bytes, within bounds that hiredis has not.

/// What is counted while a reply comes.
struct reply_shape {
    std::size_t elements = 0;
    bool is_too_deep = false;
};

/// Takes bytes in whatever pieces they come. Threads: one at a time.
class reply_reader {
    struct freed {
        void operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }
    };

    reply_shape shape_;  // of the reply that is not complete yet; hiredis is told where to find it
    std::unique_ptr<redisReader, freed> reader_;
    std::size_t bytes_ = 0;  // taken since the last complete reply
    std::string fault_;

  public:
    static constexpr std::size_t bytes_max = 16 << 20;
    /// Of a number, a status or an error: hiredis looks for its end from the beginning, each time that something comes.
    static constexpr std::size_t line_bytes_max = 64 * 1024;
    /// Of the arrays of one reply, together: each takes some 80 bytes, and six on the wire.
    static constexpr std::size_t elements_max = 256 * 1024;
    /// Arrays in arrays. From 1.0 on hiredis has no bound of its own, and frees them by recursion.
    static constexpr std::size_t depth_max = 7;

    /// Throws std::bad_alloc.
    reply_reader();
    reply_reader(const reply_reader&) = delete;
    reply_reader& operator=(const reply_reader&) = delete;

    void take(std::string_view bytes);

    /// @return the next complete reply; nothing if more bytes are needed, or if fault() says that no reply will come.
    [[nodiscard]] redis_reply next();

    /// Why what came is no reply, or is too large; empty if all is well. Nothing can be read from then on.
    [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] std::string_view unread() const noexcept;
};

// --- What servers say of themselves and of others, read out of their replies.

/// Of INFO's reply the value of a field; empty if there is none.
[[nodiscard]] std::string_view info_field(std::string_view info, std::string_view name) noexcept;

/// Of SENTINEL GET-MASTER-ADDR-BY-NAME; nothing if the sentinel knows none of that name.
[[nodiscard]] std::optional<host_port> sentinel_master(const redisReply& reply);

/// Of ROLE: "master", "slave", "sentinel"; empty for what is no such reply.
[[nodiscard]] std::string_view role_in(const redisReply& reply) noexcept;

/// Of CLUSTER SLOTS: all nodes, each once, at most cluster_nodes_max.
/// @param asked where an address without a host is
[[nodiscard]] std::vector<host_port> cluster_nodes(const redisReply& reply, const host_port& asked);

inline constexpr std::size_t cluster_nodes_max = 64;

/// Where a node of a cluster sends us: "MOVED 3999 127.0.0.1:6381", or ASK.
struct redirection {
    bool once = false;  ///< ASK: for this command only
    host_port to;

    bool operator==(const redirection&) const = default;
};

/// @param asked as above
/// @return nothing for another error
[[nodiscard]] std::optional<redirection> redirection_in(const redis_error& error, const host_port& asked);

}  // namespace seriesgate
