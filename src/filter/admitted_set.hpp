/// The series admitted in one window: Bloom segments that grow with their number.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "filter/sizing.hpp"
#include "filter/split_block.hpp"

namespace seriesgate {

/// A chain of split-block filters. When one is full, inserts go to the next, larger one; lookups ask all, newest
/// first. The false-positive rate over the whole chain stays below the one it was made for: the segments get shares of
/// it that fall geometrically and sum to 1.
/// Source: Almeida et al., "Scalable Bloom Filters", 2007 (growth 4, tightening 1/2).
///
/// insert() never allocates: prepare_segment() does, ahead of need, called by maintenance. Who inserts asks has_room()
/// first. If maintenance has fallen behind, it has to get a segment before it inserts: no segment is filled beyond what
/// it was made for.
///
/// Threads: contains() and prefetch() any, without a lock. insert(), has_room() and adopt() under the commit lock.
/// wants_segment() and prepare_segment() one at a time, without the lock.
class admitted_set {
  public:
    struct segment {
        split_block filter;
        std::uint64_t capacity;
        std::atomic<std::uint64_t> count{0};
    };

    /// @param first what the first segment is sized for; its rate is the promise for the whole chain.
    /// @param capacity_max see set_capacity_max.
    explicit admitted_set(const filter_spec& first, std::uint64_t capacity_max = 0);

    [[nodiscard]] bool contains(std::uint64_t fingerprint) const noexcept {
        for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
            if (segments_[i]->filter.contains(fingerprint)) return true;
        return false;
    }

    /// Lookups worth having in flight at once; the memory system of current machines keeps ten to twenty.
    static constexpr std::size_t prefetch_distance = 16;

    /// Starts loading what contains() will look at.
    void prefetch(std::uint64_t fingerprint) const noexcept {
        for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
            segments_[i]->filter.prefetch(fingerprint);
    }

    /// Whether so many series can be inserted. @param count at most spare_capacity_min.
    [[nodiscard]] bool has_room(std::uint64_t count) const noexcept {
        assert(count <= spare_capacity_min);
        if (spare_) return true;
        const segment& last = *segments_[segment_count_.load(std::memory_order_relaxed) - 1];
        return last.count.load(std::memory_order_relaxed) + count <= last.capacity;
    }
    /// Whether so many series do not fit into the newest segment, and no other waits behind it. Threads: as has_room().
    [[nodiscard]] bool wants_segment_for(std::uint64_t count) const noexcept {
        const segment& last = *segments_[segment_count_.load(std::memory_order_relaxed) - 1];
        return !spare_ && last.count.load(std::memory_order_relaxed) + count > last.capacity;
    }
    /// Every segment but the first holds at least so many.
    static constexpr std::uint64_t spare_capacity_min = 64;

    /// Adds a series that contains() did not find. Precondition: has_room(1).
    void insert(std::uint64_t fingerprint) noexcept;

    /// @param capacity_max series that can come at most (the window's limit), so that no memory is made for more; 0 is
    ///        unlimited. Threads: any.
    void set_capacity_max(std::uint64_t capacity_max) noexcept {
        capacity_max_.store(capacity_max, std::memory_order_relaxed);
    }

    /// Whether the newest segment is nearly full, more may come, and no other is waiting behind it.
    [[nodiscard]] bool wants_segment() const noexcept;
    /// Allocates the next segment. Small chains grow to four times their capacity, large ones to twice.
    /// @param series_count that are known to come: it has room for all of them.
    [[nodiscard]] std::unique_ptr<segment> prepare_segment(std::uint64_t series_count = 0) const;
    /// Puts a prepared segment at the end of the chain, to be used when the one before it is full.
    void adopt(std::unique_ptr<segment> next) noexcept;

    /// Writes the chain, while inserts may go on: a series that is inserted meanwhile may or may not be in it.
    bool save(state_encoder& out) const;
    /// A set as save() wrote it, or null if that makes no sense. Its capacity is unlimited.
    static std::unique_ptr<admitted_set> restore(state_decoder& in);

    /// What the set was made for.
    [[nodiscard]] double promised_rate() const noexcept { return promised_rate_; }
    /// What the first segment is sized for.
    [[nodiscard]] std::uint64_t first_capacity() const noexcept { return segments_[0]->capacity; }
    /// Series inserted.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
    /// Memory of all segments, a waiting one included. Under the commit lock.
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Expected now, from what is in the segments: at most the promised rate unless growth fell behind.
    [[nodiscard]] double false_positive_rate() const;

  private:
    admitted_set() = default;

    // Each at least doubles the chain: 2^31 times the first capacity is beyond any memory.
    static constexpr std::size_t segments_max = 32;

    /// Of all segments in the chain. By the maintenance thread, or under the commit lock.
    [[nodiscard]] std::uint64_t chain_capacity() const noexcept;

    double promised_rate_ = 0;
    std::atomic<std::uint64_t> capacity_max_{0};
    std::array<std::unique_ptr<segment>, segments_max> segments_;
    /// Segments that may hold something: the last one takes the inserts.
    std::atomic<std::size_t> segment_count_{0};
    /// Adopted and still empty, or null; guarded by the commit lock, its presence is told by has_spare_.
    std::unique_ptr<segment> spare_;
    std::atomic<bool> has_spare_{false};
    std::atomic<std::uint64_t> size_{0};
};

}  // namespace seriesgate
