/// How many series were new, and how many refused, in each of the last hours.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/state_stream.hpp"

namespace seriesgate {

/// One hour: series that were counted, each once.
struct hour_counts {
    std::chrono::sys_seconds start{};
    std::uint64_t arrived = 0;
    std::uint64_t refused = 0;
    bool is_exact = true;  ///< neither is an estimate

    friend bool operator==(const hour_counts&, const hour_counts&) = default;
};

/// Whether it is the beginning of an hour that a gate may have seen: from 1970 to 2242, since a time_point does not
/// reach much further.
bool begins_hour(std::int64_t seconds) noexcept;

/// Hours that have ended; the last ones. Threads: one at a time.
class past_hours {
    std::vector<hour_counts> hours_{};  // the oldest first

  public:
    static constexpr std::size_t hours_max = 24;

    /// One that begins no later than another in here comes after a clock that was set back: those are forgotten.
    void add(const hour_counts& ended);
    /// The oldest first. Hours in which there was no gate are left out.
    [[nodiscard]] std::span<const hour_counts> all() const noexcept { return hours_; }

    void save(state_encoder& out) const;
    /// Damage makes the decoder fail, and leaves anything in this.
    void load(state_decoder& in);
};

}  // namespace seriesgate
