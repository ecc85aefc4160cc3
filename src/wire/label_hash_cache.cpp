#include "wire/label_hash_cache.hpp"

#include <bit>
#include <cassert>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace seriesgate {

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);

label_hash_cache::label_hash_cache(std::size_t most_bytes)
    : memory_(most_bytes),
      buckets_(static_cast<bucket*>(memory_.data())),
      mask_max_(most_bytes / sizeof(bucket) - 1),
      mask_(std::min(first_buckets - 1, mask_max_)),
      used_(0) {
    assert(std::has_single_bit(most_bytes) && most_bytes >= 2 * sizeof(bucket));
}

bool label_hash_cache::learn(std::uint64_t key, std::uint64_t labels_hash, bool displaces) noexcept {
    assert(key != 0);
    slot* slot = free_slot(bucket_of(key), key);
    if (slot == nullptr) slot = free_slot(neighbour_of(key), key);
    const bool has_room = slot != nullptr;
    if (!has_room) {
        if (!displaces) return false;
        slot = &bucket_of(key).slots[key >> 62];  // bits that no bucket is chosen by
    }
    std::atomic_ref{slot->sum}.store(labels_hash, std::memory_order_relaxed);
    std::atomic_ref{slot->check}.store(key ^ labels_hash, std::memory_order_relaxed);
    return has_room;
}

/// Finds an empty slot, one whose series belongs to another bucket since the table grew, or the series' own slot,
/// filled by another thread meanwhile.
label_hash_cache::slot* label_hash_cache::free_slot(bucket& of, std::uint64_t key) noexcept {
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

/// Grows by using twice as many buckets. Half of the entries are in the wrong bucket then; new ones replace them, and
/// they are learned again.
void label_hash_cache::note_used() noexcept {
    const std::size_t used = used_.fetch_add(1, std::memory_order_relaxed) + 1;
    std::size_t mask = mask_.load(std::memory_order_relaxed);
    constexpr std::size_t slots_per_bucket = sizeof(bucket) / sizeof(slot);
    if (used <= (mask + 1) * slots_per_bucket / 4 * 3 || mask >= mask_max_) return;
    mask_.compare_exchange_strong(mask, 2 * mask + 1, std::memory_order_relaxed);
}

namespace {

[[gnu::flatten]] std::uint64_t portable_key(bytes_view labels, const hash_key& key) noexcept {
    return text_hash(labels, key.secret());
}

#if defined(__x86_64__)

/// XXH64's XXH_PRIME64_1.
constexpr std::uint64_t factor = 0x9e3779b185ebca87u;

/// Both halves of a step.
constexpr std::size_t step_bytes = 64;
static_assert(keyed_bytes_max + step_bytes <= hash_key::long_secret_bytes);

[[gnu::target("avx2,pclmul,vpclmulqdq")]] inline __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}

/// Multiplies, without carries, the halves of each 16 bytes, after mixing 32 bytes of text and key.
[[gnu::target("avx2,pclmul,vpclmulqdq")]] inline __m256i product(const char* text,
                                                                 const unsigned char* secret) noexcept {
    const __m256i mixed = _mm256_xor_si256(load(text), load(secret));
    return _mm256_clmulepi64_epi128(mixed, mixed, 0x10);
}

/// Sums the products; two texts of one size get the same sum with probability 2^-64. One more product reduces its 128
/// bits to 64 and includes the size. The last step overlaps the one before, so that it ends with the text.
/// Source: Lemire and Kaser, "Faster 64-bit universal hashing using carry-less multiplications", 2016 (CLNH).
[[gnu::target("avx2,pclmul,vpclmulqdq")]] inline std::uint64_t carryless_key(bytes_view labels,
                                                                             const hash_key& key) noexcept {
    assert(labels.size() >= step_bytes && labels.size() <= keyed_bytes_max);
    const unsigned char* secret = key.long_secret();
    const char* const last = labels.data() + labels.size() - step_bytes;
    __m256i even = _mm256_setzero_si256();
    __m256i odd = even;
    for (const char* at = labels.data();; at += step_bytes, secret += step_bytes) {
        const char* const from = std::min(at, last);
        even = _mm256_xor_si256(even, product(from, secret));
        odd = _mm256_xor_si256(odd, product(from + step_bytes / 2, secret + step_bytes / 2));
        if (from == last) break;
    }
    const __m256i sum = _mm256_xor_si256(even, odd);
    const __m128i folded = _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    std::uint64_t mixers[2];
    std::memcpy(mixers, key.secret(), sizeof mixers);
    const auto low = static_cast<std::uint64_t>(_mm_cvtsi128_si64(folded)) ^ mixers[0];
    const auto high = static_cast<std::uint64_t>(_mm_extract_epi64(folded, 1)) ^ mixers[1];
    const uint128 wide = static_cast<uint128>(low) * high;
    const auto mixed = static_cast<std::uint64_t>(wide) ^ static_cast<std::uint64_t>(wide >> 64);
    return std::max<std::uint64_t>(avalanche(mixed + labels.size() * factor), 1);
}

[[gnu::target("avx2,pclmul,vpclmulqdq")]] void labels_keys_carryless(std::span<const bytes_view> labels,
                                                                     const hash_key& key,
                                                                     std::uint64_t* keys) noexcept {
    for (const bytes_view each : labels)
        *keys++ = each.size() >= step_bytes ? carryless_key(each, key) : portable_key(each, key);
}

bool has_carryless() noexcept {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("vpclmulqdq") != 0;
}

#endif

}  // namespace

void labels_keys_portable(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept {
    for (const bytes_view each : labels) *keys++ = portable_key(each, key);
}

void labels_keys(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept {
#if defined(__x86_64__)
    static const bool is_carryless = has_carryless();
    if (is_carryless) return labels_keys_carryless(labels, key, keys);
#endif
    labels_keys_portable(labels, key, keys);
}

}  // namespace seriesgate
