#include "fleet/beat.hpp"

#include <chrono>
#include <cstddef>

#include "redis/redis_reply.hpp"

namespace seriesgate {
namespace {

/// KEYS  1 what fingerprints depend on, 2 a hash of gates: name, then when it was seen and its version.
/// ARGV  1 what this gate's depend on, 2 its name, 3 its version.
/// Answer  clock (s, us), whether others depend on something else (1, 0), then of each gate name, seconds, version.
constexpr const char* text = R"(
local FORGOTTEN, KEPT = 7200, 172800
local time = redis.call('TIME')
local now = tonumber(time[1])
local answer = {now, tonumber(time[2]), 0}
local theirs = redis.call('GET', KEYS[1])
if theirs and theirs ~= ARGV[1] then
    answer[3] = 1
    return answer
end
if theirs then redis.call('EXPIRE', KEYS[1], KEPT) else redis.call('SET', KEYS[1], ARGV[1], 'EX', KEPT) end
redis.call('HSET', KEYS[2], ARGV[2], now .. ' ' .. ARGV[3])
redis.call('EXPIRE', KEYS[2], KEPT)
local all = redis.call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
    local seen, version = string.match(all[i + 1], '^(%d+) (.*)$')
    local ago = now - tonumber(seen or 0)
    if ago > FORGOTTEN then
        redis.call('HDEL', KEYS[2], all[i])
    else
        answer[#answer + 1] = all[i]
        answer[#answer + 1] = ago
        answer[#answer + 1] = version
    end
end
return answer
)";

constexpr std::size_t words_before_members = 3;
constexpr std::size_t words_of_member = 3;

bool is_number(const redisReply& reply) {
    return reply.type == REDIS_REPLY_INTEGER;
}

}  // namespace

const redis_script& beat_script() {
    static const redis_script script{text};
    return script;
}

std::vector<std::string> beat_words(const gate_identity& who, const store_keys& keys) {
    return {"2", keys.identity(), keys.gates(), who.fingerprints, who.name, who.version};
}

result<beat_answer, std::string> read_beat_answer(const redisReply& reply) {
    const std::string unexpected = "an answer that the script does not make";
    if (reply.type != REDIS_REPLY_ARRAY || reply.elements < words_before_members) return unexpected;
    if ((reply.elements - words_before_members) % words_of_member != 0) return unexpected;
    for (std::size_t i = 0; i < words_before_members; ++i)
        if (!is_number(*reply.element[i])) return unexpected;
    beat_answer made;
    made.now = time_point{std::chrono::seconds{reply.element[0]->integer}} +
               std::chrono::microseconds{reply.element[1]->integer};
    made.is_foreign = reply.element[2]->integer != 0;
    for (std::size_t i = words_before_members; i < reply.elements; i += words_of_member) {
        if (!is_number(*reply.element[i + 1])) return unexpected;
        made.members.push_back({.name = std::string{text_of(*reply.element[i])},
                                .version = std::string{text_of(*reply.element[i + 2])},
                                .seen_seconds_ago = reply.element[i + 1]->integer});
    }
    return made;
}

}  // namespace seriesgate
