/// A set of fingerprints as DUMP gives it: the form in which a store sends it with the fewest bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace seriesgate {

/// Reads the form that sets of at most set-max-intset-entries numbers have.
///
/// A byte that says what it is (11), the intset as a string with its length before it, two bytes with the version of
/// the format, eight with a checksum, which the connection makes needless. An intset is two numbers of four bytes, the
/// size of its members and how many there are, then those, lowest byte first. Source: rdb.h, rdb.c (rdbLoadLen,
/// rdbSaveRawString), intset.h and cluster.c (createDumpPayload) of Redis 7.0; the same in 6.2 to 8 and in Valkey.
/// @param payload of a reply to DUMP; any bytes.
/// @param into gets the members behind what it has; as they come, so one may stand there twice if the payload says so.
/// @return false for any other form, compressed ones too, and for what is damaged: then nothing has been added.
bool read_set_dump(std::string_view payload, std::vector<std::uint64_t>& into);

}  // namespace seriesgate
