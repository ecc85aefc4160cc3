/// How many different fingerprints there are among some.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes.hpp"

namespace seriesgate {

/// Exact. Keeps its memory from one use to the next. Threads: one at a time.
class distinct_counter {
    std::vector<std::uint64_t> all_;
    std::vector<std::uint64_t> table_;  // open addressing; 0: free

  public:
    void start() noexcept { all_.clear(); }
    void add(std::uint64_t fingerprint) { all_.push_back(fingerprint); }

    /// Changes the order of what was added.
    std::uint64_t count() {
        if (all_.empty()) return 0;
        const std::size_t size = std::bit_ceil(2 * all_.size());
        table_.assign(size, 0);
        std::uint64_t distinct = 0;
        // A sender who makes fingerprints collide in their low bits gets them sorted, which takes longer but not for
        // ever.
        std::size_t steps_left = 8 * all_.size();
        bool has_zero = false;
        for (const std::uint64_t fingerprint : all_) {
            has_zero |= fingerprint == 0;
            std::size_t at = fingerprint & (size - 1);
            while (table_[at] != 0 && table_[at] != fingerprint) {
                if (--steps_left == 0) return count_sorted();
                at = (at + 1) & (size - 1);
            }
            distinct += table_[at] == 0 && fingerprint != 0;
            table_[at] = fingerprint;
        }
        return distinct + has_zero;
    }

    /// Gives the memory of a giant back; nothing has been added then.
    void shrink() {
        start();
        give_back(all_);
        give_back(table_);
    }

  private:
    std::uint64_t count_sorted() {
        std::ranges::sort(all_);
        // std::unique: clang 14 cannot compile libstdc++ 12's std::ranges::unique.
        return static_cast<std::uint64_t>(std::unique(all_.begin(), all_.end()) - all_.begin());
    }
};

}  // namespace seriesgate
