/// Whether it pays to look labels up before they are read.
#pragma once

#include <algorithm>
#include <cstdint>

namespace seriesgate {

/// A lookup in vain costs half of a reading, and what is found saves a sixth of one where processors are fast (and half
/// where they are not). So it pays while three in four are found; and where there is room in the table, for what is
/// learned is found the next time. Else it is left alone, but for a try now and then: who sends nothing but what nobody
/// knows makes it cost a tenth more at most. Threads: one at a time.
class recognition_credit {
    static constexpr std::int32_t price = 3;  // of one that is not found, in those that are
    static constexpr std::int32_t trial = 512 * price;
    static constexpr std::int32_t credit_max = 2 * trial;
    static constexpr std::int32_t entries_between_trials = 8'192;

    std::int32_t credit_ = credit_max;  // below 0: entries to go until the next trial
    std::uint32_t displacing_ = 0;

  public:
    [[nodiscard]] bool is_given() const noexcept { return credit_ > 0; }
    /// One was found.
    void add() noexcept { credit_ = std::min(credit_ + 1, credit_max); }
    /// One was not found, and there was no room for it.
    void take() noexcept {
        if (!is_given()) return;  // one of those that had been looked up already
        credit_ -= price;
        if (credit_ <= 0) credit_ = -entries_between_trials;
    }
    /// Whether what is not found takes the place of another where there is no room. While most is found, only one in
    /// eight: with more series than room, those that are known stay. When little is found all do: after a rollout, say,
    /// nobody asks any more for what is known.
    bool displaces() noexcept { return credit_ <= trial || ++displacing_ % 8 == 0; }
    /// @param entries of a body that has been read.
    void pass(std::uint32_t entries) noexcept {
        if (credit_ > 0) return;
        const auto passed = static_cast<std::int32_t>(std::min<std::uint32_t>(entries, entries_between_trials));
        credit_ = credit_ + passed < 0 ? credit_ + passed : trial;
    }
};

}  // namespace seriesgate
