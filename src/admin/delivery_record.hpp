/// The record of deliveries: whether samples have reached the store in the last minutes, and why not.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "admin/gate_counts.hpp"

namespace seriesgate {

/// Keeps the counts of every few seconds. Threads: one at a time.
class delivery_record {
  public:
    static constexpr auto interval = std::chrono::seconds{5};
    static constexpr auto window = std::chrono::minutes{5};
    /// After this time without a stored sample, although samples failed, delivery counts as broken.
    static constexpr auto patience = std::chrono::seconds{10};

    void note(std::chrono::sys_seconds now, const gate_counts& counts);

    /// @param counts current ones. @param has_store false with `discard:`.
    [[nodiscard]] delivery_facts facts(std::chrono::sys_seconds now, const gate_counts& counts, bool has_store) const;

  private:
    struct moment {
        std::chrono::sys_seconds when{};
        std::uint64_t stored = 0, failed = 0, refused = 0;
        named_counts first_store{};    ///< its answers and faults by their text, successes by an empty one
        named_counts replicas{};       ///< failed samples of the required ones, by name
        named_counts confirmations{};  ///< successes that do not confirm all, by their text
    };
    static moment moment_of(std::chrono::sys_seconds now, const gate_counts& counts);
    [[nodiscard]] const moment& before(std::chrono::sys_seconds when) const;
    using minutes = decltype(delivery_facts::refused_by_minute);
    [[nodiscard]] minutes until(std::chrono::sys_seconds now) const;

    std::chrono::sys_seconds watched_since_{};
    std::optional<std::chrono::sys_seconds> last_refused_{};
    minutes refused_{};  // the last element is that of minute_
    std::chrono::sys_time<std::chrono::minutes> minute_{};
    std::deque<moment> moments_{};            // oldest first
    std::chrono::sys_seconds last_stored_{};  // or the first moment of all
};

std::string to_text(const delivery_facts& facts);

}  // namespace seriesgate
