#include "wire/known_labels.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace seriesgate {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

known_labels::known_labels(std::size_t most_bytes)
    : memory_(most_bytes),
      buckets_(static_cast<bucket*>(memory_.data())),
      mask_max_(most_bytes / sizeof(bucket) - 1),
      mask_(std::min(first_buckets - 1, mask_max_)),
      used_(0) {
    assert(std::has_single_bit(most_bytes) && most_bytes >= 2 * sizeof(bucket));
}

bool known_labels::learn(std::uint64_t key, std::uint64_t labels_hash, bool displaces) noexcept {
    assert(key != 0);
    slot* place = free_slot(bucket_of(key), key);
    if (place == nullptr) place = free_slot(neighbour_of(key), key);
    const bool has_room = place != nullptr;
    if (!has_room) {
        if (!displaces) return false;
        place = &bucket_of(key).slots[key >> 62];  // bits that choose no bucket
    }
    std::atomic_ref{place->sum}.store(labels_hash, std::memory_order_relaxed);
    std::atomic_ref{place->check}.store(key ^ labels_hash, std::memory_order_relaxed);
    return has_room;
}

/// An empty slot, one whose series belongs elsewhere since the table has grown, or that of the series itself, which
/// another thread has learned meanwhile.
known_labels::slot* known_labels::free_slot(bucket& of, std::uint64_t key) noexcept {
    for (slot& each : of.slots) {
        const std::uint64_t there = load(each.check) ^ load(each.sum);
        if (there == 0) {
            note_used();
            return &each;
        }
        const bool is_at_home = &bucket_of(there) == &of || &neighbour_of(there) == &of;
        if (there == key || !is_at_home) return &each;
    }
    return nullptr;
}

/// Grows by taking twice as many buckets into use. Half of what is known stands in the wrong bucket then: it gives way
/// to what comes, and is learned again.
void known_labels::note_used() noexcept {
    const std::size_t used = used_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::size_t mask = mask_.load(std::memory_order_relaxed);
    constexpr std::size_t slots_per_bucket = sizeof(bucket) / sizeof(slot);
    if (used <= (mask + 1) * slots_per_bucket / 4 * 3 || mask >= mask_max_) return;
    mask_.compare_exchange_strong(mask, 2 * mask + 1, std::memory_order_relaxed);
}

}  // namespace seriesgate
