/// What ingestion and pages know of a warm start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/metrics.hpp"
#include "cardinality/space_saving.hpp"
#include "limit/verdict.hpp"

namespace seriesgate {

enum class warm_state : std::uint8_t {
    reading,     ///< nothing is refused, and no new series is counted
    complete,    ///< all was read
    incomplete,  ///< time was over, or the store refused a part
    failed,      ///< the store cannot be asked
    skipped,     ///< the gate knew series from before
};

constexpr std::string_view name_of(warm_state of) noexcept {
    constexpr std::string_view names[] = {"reading", "complete", "incomplete", "failed", "skipped"};
    return names[static_cast<std::size_t>(of)];
}

/// Threads: any, unless stated.
class warm_series {
  public:
    counter admitted;       ///< series that were there before the lookback: counted above limits too
    counter younger;        ///< younger ones, admitted while there was room
    counter without_room;   ///< younger ones for which there was none
    counter names;          ///< metric names to read
    counter names_read;     ///< completely or in part
    counter names_in_part;  ///< of which the store refused a part

    [[nodiscard]] warm_state state() const noexcept { return state_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool is_reading() const noexcept { return state() == warm_state::reading; }

    /// Threads: one. @param fingerprint of a series that was admitted; may come twice.
    void note(std::uint64_t fingerprint) { sampled_.weigh(fingerprint); }
    void begin() noexcept { state_.store(warm_state::reading, std::memory_order_relaxed); }
    /// From here on limits apply, and meet() looks at series, until end_meeting(). Threads: that of note().
    void end(warm_state as);
    void end_meeting() noexcept {
        is_meeting_.store(false, std::memory_order_relaxed);
        has_met_.store(true, std::memory_order_release);
    }

    /// For each request.
    void meet(std::span<const offered_series> offered) noexcept {
        if (is_meeting_.load(std::memory_order_acquire)) [[unlikely]]
            look_at(offered);
    }
    /// After end_meeting(): how many of the admitted series senders have sent since the end; nothing without any.
    [[nodiscard]] std::optional<double> met() const noexcept;

  private:
    void look_at(std::span<const offered_series> offered) noexcept;

    static constexpr std::size_t sampled_max = 4'096;

    std::atomic<warm_state> state_{warm_state::skipped};
    std::atomic<bool> is_meeting_{false};
    std::atomic<bool> has_met_{false};
    thinning sampled_{sampled_max};  // of those admitted
    // From end() on.
    std::vector<std::uint64_t> fingerprints_;  // ascending
    std::vector<std::atomic<bool>> met_;       // by index
};

void write(exposition& out, const warm_series& progress);

}  // namespace seriesgate
