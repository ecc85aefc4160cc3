/// An answer of the server, as hiredis makes it.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string_view>

#include "core/result.hpp"
#include "redis/redis_error.hpp"

namespace seriesgate {

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

}  // namespace seriesgate
