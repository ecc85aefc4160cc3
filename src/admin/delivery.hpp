/// Whether samples reach the store: what became of those of the last minutes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "admin/gate_counts.hpp"

namespace seriesgate {

/// Remembers what had been counted every few seconds. Threads: one at a time.
class delivery_record {
  public:
    static constexpr auto interval = std::chrono::seconds{5};
    static constexpr auto window = std::chrono::minutes{5};
    /// When nothing has been stored for so long, although samples came, nothing is.
    static constexpr auto patience = std::chrono::seconds{10};

    void note(std::chrono::sys_seconds now, const gate_counts& counts);

    /// @param counts of now. @param has_store false with `discard:`.
    [[nodiscard]] delivery_facts facts(std::chrono::sys_seconds now, const gate_counts& counts, bool has_store) const;

  private:
    struct moment {
        std::chrono::sys_seconds when{};
        std::uint64_t stored = 0, failed = 0, refused = 0;
        named_counts faults{};  ///< what stores have done wrong, by what to call it
    };
    static moment moment_of(std::chrono::sys_seconds now, const gate_counts& counts);
    [[nodiscard]] const moment& before(std::chrono::sys_seconds when) const;
    using minutes = decltype(delivery_facts::refused_by_minute);
    [[nodiscard]] minutes until(std::chrono::sys_seconds now) const;

    std::chrono::sys_seconds watched_since_{};
    std::optional<std::chrono::sys_seconds> last_refused_{};
    minutes refused_{};  // the last one is that of minute_
    std::chrono::sys_time<std::chrono::minutes> minute_{};
    std::deque<moment> moments_{};            // the oldest first
    std::chrono::sys_seconds last_stored_{};  // or the first moment of all
};

/// One sentence.
std::string to_text(const delivery_facts& facts);

}  // namespace seriesgate
