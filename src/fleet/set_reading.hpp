/// All series of one window, as the shared store has them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// A window's set in the store.
struct shared_set {
    std::string record;         ///< its name, see store_keys
    std::uint32_t buckets = 0;  ///< a power of two
};

struct set_reading {
    std::uint64_t series = 0;  ///< that were taken; one may have come twice
    std::uint64_t bytes = 0;   ///< of the replies
    bool is_refused = false;   ///< what was read was not wanted any more
    std::string failed;        ///< why not all has been read; empty if it has
};

/// Takes the series of some buckets. @param in_all so many the set has, about. @return false if no more are wanted.
using series_taker = std::function<bool(std::span<const std::uint64_t> series, std::uint64_t in_all)>;

/// Reads the form that sets of at most set-max-intset-entries numbers have.
///
/// The form: a byte for the type (11), the intset as a string behind its length, two bytes of format version, eight of
/// checksum. The connection makes the checksum needless. An intset is two numbers of four bytes, the size of its
/// members and how many there are, then those, lowest byte first. Source: rdb.h, rdb.c (rdbLoadLen,
/// rdbSaveRawString), intset.h and cluster.c (createDumpPayload) of Redis 7.0; the same in 6.2 to 8 and in Valkey.
/// @param payload of a reply to DUMP; any bytes.
/// @param into gets the members behind what it has; as they come, so one may stand there twice if the payload says so.
/// @return false for any other form, compressed ones too, and for what is damaged: then nothing has been added.
bool read_set_dump(std::string_view payload, std::vector<std::uint64_t>& into);

/// Reads the set bucket by bucket, many at a time. This bounds memory, and keeps the store from its other clients only
/// briefly. A series that the store takes in meanwhile may be missed.
///
/// By DUMP, and where that is no compact set, or is forbidden, by SSCAN, which takes three times as many bytes.
/// @param over connected; that connection is to last to the end, so that all comes from one server.
/// @param take is called on this thread, and may throw.
net::awaitable<set_reading> read_set(redis_client& over, shared_set set, series_taker take);

}  // namespace seriesgate
