/// The names under which a fleet's windows are kept in its store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

/// Of the keys and their values. Gates of another layout use other keys beside these.
inline constexpr unsigned store_layout = 3;

/// The names of a namespace's keys: sg:{default}:3:head, sg:{default}:3:h:0:490000, sg:{default}:3:h:0:490000:17. In a
/// cluster the part in braces chooses the slot, so a namespace is in one. Threads: any.
class store_keys {
    std::string prefix_;

  public:
    /// @param name_space without braces: the first closing one would end the part that chooses the slot.
    explicit store_keys(std::string_view name_space);

    [[nodiscard]] std::string head() const { return prefix_ + "head"; }
    [[nodiscard]] std::string gates() const { return prefix_ + "gates"; }
    [[nodiscard]] std::string feed() const { return prefix_ + "feed"; }
    /// The record of an hour, with its counts; the buckets of its set have a number more, see bucket_key.
    [[nodiscard]] std::string hour(std::uint64_t generation, std::int64_t hour) const;
    [[nodiscard]] std::string day(std::uint64_t generation, std::int64_t day) const;
};

/// @param record that hour() or day() has named.
/// @param buckets of that window, a power of two.
std::string bucket_key(std::string_view record, std::uint64_t fingerprint, std::uint32_t buckets);

/// The same by the bucket's number.
std::string bucket_key_at(std::string_view record, std::uint64_t bucket);

/// As sets hold it: the signed number of the same bits, which lets them keep it in 8 bytes.
std::string member_text(std::uint64_t fingerprint);

}  // namespace seriesgate
