/// The series admitted in one day.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "filter/admitted_set.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// An admitted_set that looks for a series in other places than the hour's does. With the same places a series that the
/// hour's set takes for one of its own would mostly find the same bits set in the day's, and to ask both would say no
/// more than to ask one (see window_sets::standing_of).
/// Threads: as admitted_set.
class day_set {
    std::unique_ptr<admitted_set> set_;

    static std::uint64_t elsewhere(std::uint64_t fingerprint) noexcept {
        return avalanche(fingerprint ^ 0xd6e8feb86659fd93u);
    }

  public:
    explicit day_set(std::unique_ptr<admitted_set> set) noexcept : set_(std::move(set)) {}

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        return set_->contains(elsewhere(fingerprint));
    }
    void prefetch(std::uint64_t fingerprint) const noexcept { set_->prefetch(elsewhere(fingerprint)); }
    void insert(std::uint64_t fingerprint) noexcept { set_->insert(elsewhere(fingerprint)); }

    /// Its size, memory and rate.
    [[nodiscard]] admitted_set& filter() noexcept { return *set_; }
    [[nodiscard]] const admitted_set& filter() const noexcept { return *set_; }
};

}  // namespace seriesgate
