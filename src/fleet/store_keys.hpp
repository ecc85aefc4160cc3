/// The names under which a fleet's windows are kept in its store.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

/// Version of the keys and their values. Gates of another layout use other keys beside these.
inline constexpr unsigned store_layout = 4;

/// The names of a namespace's keys: sg:{default}:4:head, sg:{default}:4:h:0:490000, sg:{default}:4:h:0:490000:17. In a
/// cluster the part in braces chooses the slot, so a namespace is in one. Threads: any.
class store_keys {
    std::string prefix_;

    [[nodiscard]] std::string window(const char* kind, std::uint64_t generation, std::int64_t number) const {
        return prefix_ + kind + std::to_string(generation) + ":" + std::to_string(number);
    }

  public:
    /// @param name_space without braces: the first closing one would end the part that chooses the slot.
    explicit store_keys(std::string_view name_space)
        : prefix_("sg:{" + std::string{name_space} + "}:" + std::to_string(store_layout) + ":") {
        assert(name_space.find_first_of("{}") == name_space.npos);
    }

    [[nodiscard]] std::string head() const { return prefix_ + "head"; }
    [[nodiscard]] std::string gates() const { return prefix_ + "gates"; }
    [[nodiscard]] std::string feed() const { return prefix_ + "feed"; }
    /// The record of an hour, with its counts; the buckets of its set have a number more, see bucket_key.
    [[nodiscard]] std::string hour(std::uint64_t generation, std::int64_t hour) const {
        return window("h:", generation, hour);
    }
    [[nodiscard]] std::string day(std::uint64_t generation, std::int64_t day) const {
        return window("d:", generation, day);
    }
};

/// @param record that hour() or day() has named.
inline std::string bucket_key_at(std::string_view record, std::uint64_t bucket) {
    std::string key;
    key.reserve(record.size() + 8);  // at most 2^20 buckets
    return key.append(record).append(":").append(std::to_string(bucket));
}

/// The high bits of a fingerprint choose its bucket, as they choose its place in a gate's table. So a walk through the
/// table meets the series of one bucket together.
/// @param buckets of that window, a power of two, below 2^32.
inline std::string bucket_key(std::string_view record, std::uint64_t fingerprint, std::uint32_t buckets) {
    assert(std::has_single_bit(buckets));
    return bucket_key_at(record, (fingerprint >> 32) * buckets >> 32);
}

/// The n-th bucket of an order that comes to all parts of a table in turn: 0, 1/2, 1/4, 3/4, 1/8 of them and so on. A
/// table that got them in the order of their numbers could not grow so much in one place.
/// @param buckets a power of two. @param n below it.
inline std::uint64_t bucket_in_turn(std::uint32_t n, std::uint32_t buckets) noexcept {
    std::uint64_t bucket = 0;
    for (std::uint32_t place = buckets / 2; place != 0; place /= 2, n /= 2)
        if (n % 2 == 1) bucket += place;
    return bucket;
}

/// As sets hold it: the signed number of the same bits, which lets them keep it in 8 bytes.
inline std::string member_text(std::uint64_t fingerprint) {
    return std::to_string(static_cast<std::int64_t>(fingerprint));
}

}  // namespace seriesgate
