/// Why a command has no answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

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

}  // namespace seriesgate
