/// What is to become of one request: what goes upstream, what is left out, and why.
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

// --- What becomes of a request's body.

enum class body_action : std::uint8_t {
    unchanged,   ///< nothing refused: the sender's own bytes
    spliced,     ///< the request without what was refused
    translated,  ///< what was kept, from remote write 2 to 1
    nothing,     ///< all was refused or left out: the upstream is not asked
    count_
};

/// As metrics show it.
constexpr std::string_view name_of(body_action what) noexcept {
    constexpr std::string_view names[] = {"unchanged", "spliced", "translated", "none"};
    static_assert(std::size(names) == static_cast<std::size_t>(body_action::count_));
    return what < body_action::count_ ? names[static_cast<std::size_t>(what)] : std::string_view{};
}

/// Whether what is sent is not what the sender has sent.
constexpr bool is_rewritten(body_action what) noexcept {
    return what == body_action::spliced || what == body_action::translated;
}

// --- A request in numbers: what came, and what was refused of it.

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

/// What was decided: all that may be kept of a plan when the planner goes on to another request.
struct plan_counts {
    entry_counts received;
    entry_counts refused;
    entry_counts left_out;              ///< of entries that break a rule: not for a store, and no matter of limits
    std::uint64_t left_out_series = 0;  ///< these entries
    std::uint64_t refused_series = 0;   ///< distinct within the request
    std::uint64_t refused_unknown_entries = 0;  ///< entries dropped as verdict::unknown
    std::uint64_t refused_unknown_samples = 0;  ///< their stale markers, which count as samples
    std::uint32_t metadata = 0;
    std::uint32_t empty_entries = 0;  ///< nothing but labels or metadata: no series, so they pass as metadata does

    [[nodiscard]] entry_counts accepted() const noexcept {
        entry_counts left = received;
        left -= refused;
        return left -= left_out;
    }
};

/// The entry of a series that was left out, or let through by a limit that only observes; for the log and the sender.
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

/// What one limit has refused of a request, or would have.
struct limit_share {
    limit_number limit = global_limit;
    std::uint64_t samples = 0;
    refused_entry first;
};

/// Of these at most the sender is told: enough to name the limits that are spent.
inline constexpr std::size_t told_max = 32;

/// Borrows from its planner, until that goes on to another request or shrinks: keep the counts.
struct plan : plan_counts {
    body_action forward = body_action::unchanged;      ///< never translated: that is not the planner's business
    std::span<const byte_range> removed;               ///< ascending, disjoint, within the body
    std::span<const left_out_entry> left_out_entries;  ///< ascending; in removed, too
    std::span<const limit_share> refused_by;           ///< in the order of their first entries
    std::span<const limit_share> observed_by;          ///< by limits that only observe: admitted for all that
    std::span<const limit_share> beyond;               ///< by maxExemptSeries, maxIgnoredValues: they refuse nothing
    std::span<const refused_entry> told;               ///< those to tell the sender of, up to told_max
    std::span<const std::uint32_t> newly_admitted;     ///< see undecided
    std::span<const std::uint32_t> returned;           ///< see undecided
    std::span<const std::uint32_t> newly_refused;      ///< see undecided
};

// --- What each limit has refused of one request, or would have.

/// Adds up by limit. Keeps its memory from one request to the next. Threads: one at a time.
class limit_shares {
    std::vector<limit_share> shares_;    // in the order in which they came
    std::vector<std::uint32_t> places_;  // by limit: one more than its index in shares_, or 0

  public:
    void start() noexcept {
        for (const limit_share& each : shares_) places_[each.limit] = 0;
        shares_.clear();
    }

    /// @return false if the limit has no share yet: then it wants begin().
    bool add(limit_number limit, std::uint64_t samples) noexcept {
        if (limit >= places_.size() || places_[limit] == 0) [[unlikely]]
            return false;
        shares_[places_[limit] - 1].samples += samples;
        return true;
    }
    void begin(const limit_share& first) {
        if (first.limit >= places_.size()) places_.resize(first.limit + std::size_t{1});
        shares_.push_back(first);
        places_[first.limit] = static_cast<std::uint32_t>(shares_.size());
    }

    [[nodiscard]] std::span<const limit_share> all() const noexcept { return shares_; }
};

// --- How many different fingerprints there are among some.

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
