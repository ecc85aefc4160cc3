/// Calls, heartbeats and reads of the feed as words for the store's scripts, and its replies as answers.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "claim/store_call.hpp"
#include "core/result.hpp"

namespace seriesgate {

/// Of the keys and their values. Gates of another layout use other keys beside these.
inline constexpr unsigned store_layout = 3;

/// The names of a namespace's keys: sg:{default}:3:head, sg:{default}:3:h:0:490000, sg:{default}:3:h:0:490000:17. In a
/// cluster the part in braces chooses the slot, so a namespace is in one. Threads: any.
class shared_keys {
    std::string prefix_;

  public:
    /// @param name_space without braces: the first closing one would end the part that chooses the slot.
    explicit shared_keys(std::string_view name_space);

    [[nodiscard]] std::string head() const { return prefix_ + "head"; }
    [[nodiscard]] std::string gates() const { return prefix_ + "gates"; }
    [[nodiscard]] std::string feed() const { return prefix_ + "feed"; }
    /// The record of an hour, with its counts; the buckets of its set have a number more, see bucket_key.
    [[nodiscard]] std::string hour(std::uint64_t generation, std::int64_t hour) const;
    [[nodiscard]] std::string day(std::uint64_t generation, std::int64_t day) const;
};

/// What follows EVALSHA and the digest: the number of keys, the keys, the arguments. The last word is empty and to be
/// replaced by the server's run_id, see redis_client::call_script_there.
/// @param asked within the bounds of claim/store_call.hpp.
std::vector<std::string> call_words(const store_call& asked, const gate_terms& terms, const shared_keys& keys);
std::vector<std::string> heartbeat_words(const heartbeat& of, const shared_keys& keys);
/// @param read series of the feed that the gate has read.
std::vector<std::string> feed_read_words(std::string_view epoch, std::uint64_t read, const shared_keys& keys);

/// @param reply of any form: what the scripts never answer is an error, and so is what the store says instead.
/// @return the answer, or in words what is wrong with it.
result<store_answer, std::string> read_answer(const redisReply& reply, const store_call& asked);
result<heartbeat_answer, std::string> read_heartbeat_answer(const redisReply& reply);
result<feed_page, std::string> read_feed_page(const redisReply& reply);

}  // namespace seriesgate
