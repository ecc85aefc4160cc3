/// The names under which a fleet's windows are filed in its store.
///
/// A namespace has one head. A window has a record, a hash of counts, and its series in buckets, sets of fingerprints:
/// sg:{default}:2:head, sg:{default}:2:h:490000, sg:{default}:2:h:490000:17. In a cluster what stands in braces is
/// what chooses the slot, so all of a namespace is in one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

/// Of what claim.lua files, and how. A later one has keys of its own beside these.
inline constexpr unsigned claim_layout = 2;

/// Of one namespace. Threads: any.
class store_keys {
    std::string prefix_;

  public:
    /// @param name_space without braces: the first closing one would end what chooses the slot.
    explicit store_keys(std::string_view name_space);

    /// What fingerprints depend on, and which gates there are: see beat.cpp.
    [[nodiscard]] std::string identity() const;
    [[nodiscard]] std::string gates() const;
    [[nodiscard]] std::string head() const;
    /// How far gates have come with making lost counts whole again.
    [[nodiscard]] std::string recovery() const;
    /// Gates that have yet to tell what they accepted at once in an hour in which counts were lost.
    [[nodiscard]] std::string untold(std::int64_t hour) const;
    /// Gates that have a share of the day's budgets, see shares.lua.
    [[nodiscard]] std::string shares(std::int64_t day) const;
    /// @param hour since the epoch.
    [[nodiscard]] std::string hour(std::int64_t hour) const;
    /// A stream of what was taken in that hour.
    [[nodiscard]] std::string feed(std::int64_t hour) const;
    /// @param day since the epoch.
    [[nodiscard]] std::string day(std::int64_t day) const;
    /// How many series of each histogram were taken without room in a window.
    /// @param record of it, that hour() or day() has named.
    [[nodiscard]] static std::string completed(const std::string& record);
};

/// @param record that hour() or day() has named.
/// @param buckets of that window, a power of two.
std::string bucket_key(std::string_view record, std::uint64_t fingerprint, std::uint32_t buckets);

/// The same by the bucket's number.
std::string bucket_key_at(std::string_view record, std::uint64_t bucket);

/// The day that an hour is in, both counted since the epoch.
constexpr std::int64_t day_of_hour(std::int64_t hour) noexcept {
    return hour >= 0 ? hour / 24 : (hour - 23) / 24;
}

/// As sets hold it: the signed number of the same bits, which lets them keep it in 8 bytes.
std::string member_text(std::uint64_t fingerprint);

}  // namespace seriesgate
