/// The plan of one request: what goes upstream, what is left out, why, and the counts.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "limit/rules.hpp"
#include "limit/verdict.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- The action for a request's body.

enum class body_action : std::uint8_t {
    unchanged,   ///< nothing refused: the sender's bytes
    spliced,     ///< the request without the refused series
    translated,  ///< the remainder, from remote write 2 to 1
    nothing,     ///< all was refused or left out: no upstream request
    count_
};

constexpr std::string_view name_of(body_action what) noexcept {
    constexpr std::string_view names[] = {"unchanged", "spliced", "translated", "none"};
    static_assert(std::size(names) == static_cast<std::size_t>(body_action::count_));
    return what < body_action::count_ ? names[static_cast<std::size_t>(what)] : std::string_view{};
}

/// Whether the upstream gets other bytes than the sender sent.
constexpr bool is_rewritten(body_action what) noexcept {
    return what == body_action::spliced || what == body_action::translated;
}

// --- Counts of a request.

struct entry_counts {
    std::uint64_t samples = 0;     ///< samples and histograms
    std::uint64_t histograms = 0;  ///< part of samples
    std::uint64_t exemplars = 0;

    entry_counts& operator+=(const entry_counts& other) noexcept {
        samples += other.samples;
        histograms += other.histograms;
        exemplars += other.exemplars;
        return *this;
    }
    entry_counts& operator-=(const entry_counts& other) noexcept {
        assert(samples >= other.samples && histograms >= other.histograms && exemplars >= other.exemplars);
        samples -= other.samples;
        histograms -= other.histograms;
        exemplars -= other.exemplars;
        return *this;
    }
    friend bool operator==(const entry_counts&, const entry_counts&) = default;
};

/// The counts of a plan: they stay valid when the planner takes another request.
struct plan_counts {
    entry_counts received;
    entry_counts refused;
    entry_counts left_out;                      ///< of invalid entries: not forwarded, not counted by limits
    std::uint64_t left_out_series = 0;          ///< these entries
    std::uint64_t refused_series = 0;           ///< distinct within the request
    std::uint64_t refused_unknown_entries = 0;  ///< entries dropped as verdict::unknown
    std::uint64_t refused_unknown_samples = 0;  ///< their stale markers, which count as samples
    std::uint32_t metadata = 0;
    std::uint32_t empty_entries = 0;  ///< entries of labels or metadata only: no series, forwarded like metadata

    [[nodiscard]] entry_counts accepted() const noexcept {
        entry_counts left = received;
        left -= refused;
        return left -= left_out;
    }
};

/// An entry of a series that was refused, or that an observing limit would have refused; for the log and the sender.
struct refused_entry {
    std::size_t entry = 0;  ///< for planner::labels
    byte_range record;
    offered_series series;
    verdict reason = verdict::refused_hourly;
    limit_number limit = global_limit;
};

/// An entry that breaks a rule.
struct left_out_entry {
    byte_range record;
    series_fault fault = series_fault::label_without_name;
};

/// What one limit refused of a request, or would have.
struct limit_share {
    limit_number limit = global_limit;
    std::uint64_t samples = 0;
    refused_entry first;
};

/// Most refused entries that the answer to the sender names: enough to name the full limits.
inline constexpr std::size_t quoted_max = 32;

/// Borrows from its planner; valid until that takes another request or shrinks. Copy the counts to keep them.
struct plan : plan_counts {
    body_action forward = body_action::unchanged;      ///< never translated: the planner cannot
    std::span<const byte_range> removed;               ///< ascending, disjoint, within the body
    std::span<const left_out_entry> left_out_entries;  ///< ascending; in `removed` too
    std::span<const limit_share> refused_by;           ///< in the order of their first entries
    std::span<const limit_share> observed_by;          ///< by observing limits: admitted nevertheless
    std::span<const limit_share> beyond;            ///< over maxExemptSeries or maxIgnoredValues; not refused by them
    std::span<const refused_entry> quoted;          ///< entries to name in the answer, up to quoted_max
    std::span<const std::uint32_t> newly_admitted;  ///< see lookup_result
    std::span<const std::uint32_t> returned;        ///< see lookup_result
    std::span<const std::uint32_t> newly_refused;   ///< see lookup_result
};

// --- Counting distinct fingerprints.

/// Counts exactly. Reuses its memory. Threads: one at a time.
class distinct_counter {
    std::vector<std::uint64_t> all_;
    std::vector<std::uint64_t> table_;  // open addressing; 0: free

  public:
    void start() noexcept { all_.clear(); }
    void add(std::uint64_t fingerprint) { all_.push_back(fingerprint); }

    /// Reorders what was added.
    std::uint64_t count() {
        if (all_.empty()) return 0;
        const std::size_t size = std::bit_ceil(2 * all_.size());
        table_.assign(size, 0);
        std::uint64_t distinct = 0;
        // Fingerprints that collide in their low bits, made by a malicious sender, are sorted: slower, but bounded.
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

    /// Clears, and frees the memory of a giant.
    void shrink() {
        start();
        give_back_all(all_, table_);
    }

  private:
    std::uint64_t count_sorted() {
        std::ranges::sort(all_);
        // std::unique: clang 14 cannot compile libstdc++ 12's std::ranges::unique.
        return static_cast<std::uint64_t>(std::unique(all_.begin(), all_.end()) - all_.begin());
    }
};

}  // namespace seriesgate
