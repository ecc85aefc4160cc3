/// The fingerprint of a series: its identity as 64 bits; with the keyed hashes that it is made of.
///
/// A fingerprint is the sum of the labels' hashes, mixed with the tenant. A label's hash is made of the XXH3-64 hashes
/// of name and value, keyed with the installation's secret. The sum is independent of label order, needs no canonical
/// form, and can be corrected by the labels that differ from the entry before (wire/label_walk.hpp). Empty values add
/// nothing. Both versions of remote write give the same fingerprint.
#pragma once

#define XXH_INLINE_ALL

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "series/label.hpp"

namespace seriesgate {

// --- Final mixing.

/// Spreads every bit over all others; distinct numbers stay distinct.
/// Source: github.com/Cyan4973/xxHash, XXH64_avalanche.
inline std::uint64_t avalanche(std::uint64_t bits) noexcept {
    bits = (bits ^ bits >> 33) * 0xc2b2ae3d27d4eb4fu;
    bits = (bits ^ bits >> 29) * 0x165667b19e3779f9u;
    return bits ^ bits >> 32;
}

// --- Keyed hash of texts that senders choose.

/// Size of a hash_key's secret for XXH3, in which each random byte affects texts of every length.
inline constexpr std::size_t text_secret_bytes = 192;

/// Up to here XXH3 multiplies 64 by 64 bits. Beyond, it sums products of 32 by 32 bits. One collision, found in 2^32
/// tries, would then give any number of collisions under this secret.
inline constexpr std::size_t text_piece_bytes = 240;

/// @param text of 1 to text_piece_bytes.
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits_withSecret. (Not withSecretandSeed, which omits the secret for texts
/// up to 240 bytes.)
inline std::uint64_t piece_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(!text.empty() && text.size() <= text_piece_bytes);
    return std::max<std::uint64_t>(XXH3_64bits_withSecret(text.data(), text.size(), secret, text_secret_bytes), 1);
}

/// Hashes a longer text piece by piece, so that a collision of two pieces gives no others.
/// @param text of more than text_piece_bytes.
std::uint64_t long_text_hash(bytes_view text, const unsigned char* secret) noexcept;

/// Hashes a name, a value, or many labels. 0 only for the empty text. @param secret of a hash_key.
inline std::uint64_t text_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(secret != nullptr);
    if (text.empty()) return 0;
    if (text.size() > text_piece_bytes) [[unlikely]]
        return long_text_hash(text, secret);
    return piece_hash(text, secret);
}

// --- The installation's hash key.

/// The secret of all hashes of names, values and tenants. Without it, senders could construct colliding label values:
/// XXH3 of eight bytes is inverted in half a millisecond.
/// Copies share the secret. Threads: any.
class hash_key {
  public:
    /// A key as long as a text, for hashes that use it byte by byte.
    static constexpr std::size_t long_secret_bytes = 4'096 + 64;
    /// Fewer random bytes could be guessed.
    static constexpr std::size_t random_bytes_min = 32;

    /// @param random at least random_bytes_min bytes, from the system's generator or a file.
    /// Source: github.com/Cyan4973/xxHash, XXH3_generateSecret.
    explicit hash_key(bytes_view random);

    /// A public key, for tests, benchmarks, and readers whose hashes are not kept.
    static const hash_key& known_to_all();

    /// text_secret_bytes of them, for XXH3_64bits_withSecret and its kin.
    [[nodiscard]] const unsigned char* secret() const noexcept { return secrets_->secret.data(); }
    /// long_secret_bytes of them.
    [[nodiscard]] const unsigned char* long_secret() const noexcept { return secrets_->long_secret.data(); }
    /// Hashes a text for hash tables: with a public hash, senders could fill one bucket.
    [[nodiscard]] std::size_t operator()(bytes_view text) const noexcept;
    /// Identifies the key without revealing it.
    [[nodiscard]] std::uint64_t identity() const noexcept;

  private:
    struct secrets {
        std::array<unsigned char, text_secret_bytes> secret;
        alignas(64) std::array<unsigned char, long_secret_bytes> long_secret;
    };
    std::shared_ptr<const secrets> secrets_;
};

// --- The hash of one label.

/// Combines the hashes of name and value; 0 for an empty value, which equals a missing label. Injective in each
/// argument, unlike a product, for which some name would make all values equal. Name and value are not interchangeable.
/// Source: the last step of XXH64 (XXH64_avalanche); the factor is its XXH_PRIME64_1.
inline std::uint64_t label_hash(std::uint64_t name_hash, std::uint64_t value_hash) noexcept {
    assert(name_hash != 0);  // every label has a name
    return value_hash == 0 ? 0 : avalanche(name_hash * 0x9e3779b185ebca87u + value_hash);
}

// --- Histogram families.

/// The classic histogram (or summary) of a series, judged by its name: `x_bucket` with a label `le`, `x_sum` or
/// `x_count`. A counter called `x_count` is a family of one: the gate cannot know whether the histogram exists.
struct histogram_family {
    std::uint64_t fingerprint = 0;  ///< the same for all its series, and no series' own; 0: none
    bool is_total = false;          ///< `_sum` or `_count`

    explicit operator bool() const noexcept { return fingerprint != 0; }
    friend bool operator==(const histogram_family&, const histogram_family&) = default;
};

/// A tenant's permutation of label sums. A collision within or between tenants then reveals no other. (If the tenant
/// were added, one colliding pair would give a pair for everything added to both.)
struct tenant_key {
    std::uint64_t flip = 0;
    std::uint64_t factor = 1;  ///< odd
};

/// @param labels_hash the sum of the labels' hashes. @param tenant equal labels of two tenants are two series.
inline std::uint64_t fingerprint_of(std::uint64_t labels_hash, const tenant_key& tenant) noexcept {
    assert(tenant.factor % 2 == 1);  // otherwise no permutation
    return avalanche((labels_hash ^ tenant.flip) * tenant.factor);
}

/// The fingerprint of a series' ignored labels, distinct from fingerprints of series. Never 0.
/// @param ignored_hash the sum of these labels' hashes.
inline std::uint64_t ignored_value_of(std::uint64_t ignored_hash, const tenant_key& tenant) noexcept {
    constexpr std::uint64_t domain = 0xe7037ed1a0b428db;
    const std::uint64_t value = fingerprint_of(ignored_hash, {.flip = tenant.flip ^ domain, .factor = tenant.factor});
    return value == 0 ? 1 : value;
}

/// Sums the hashes of a label set in any order, and knows the ignored labels. Threads: one at a time (it owns buffers).
class label_hasher {
    hash_key key_;
    std::vector<std::string> ignored_;
    bool ignores_any_;
    std::vector<label_view> labels_;
    std::vector<label_view> common_;  // of a histogram's series

  public:
    /// @param ignored names of ignored labels, such as those that distinguish the replicas of an HA pair.
    explicit label_hasher(hash_key key, std::vector<std::string> ignored = {})
        : key_(std::move(key)), ignored_(std::move(ignored)), ignores_any_(!ignored_.empty()) {}

    [[nodiscard]] const hash_key& key() const noexcept { return key_; }
    /// The secret of its hashes, for callers that hash texts themselves.
    [[nodiscard]] const unsigned char* secret() const noexcept { return key_.secret(); }

    /// Duplicate label names are invalid, and stores differ in whether they take the first or the last. So such sets
    /// are different series if their order differs.
    std::uint64_t operator()(std::span<const label_view> labels) { return sum_of(labels, false); }

    /// The same for the ignored labels: 0 if none has a value.
    std::uint64_t ignored(std::span<const label_view> labels) { return sum_of(labels, true); }

    [[nodiscard]] bool ignores_any() const noexcept { return ignores_any_; }
    [[nodiscard]] bool ignores(bytes_view name) const noexcept;

    /// The histogram of a series. Its hash covers what its series share: the labels without `le`, and the name without
    /// its suffix.
    /// @param is_apart the series counts by its ignored labels, too.
    histogram_family family(std::span<const label_view> labels, const tenant_key& tenant, bool is_apart = false);

    /// Frees the memory of a giant request.
    void shrink();

  private:
    std::uint64_t sum_of(std::span<const label_view> labels, bool ignored);
};

/// Identifies the ignored labels, in any order, for files that contain fingerprints. The key has its own identity();
/// how fingerprints are made belongs to the file format, see state_file::format_version.
std::uint64_t ignored_labels_identity(std::vector<std::string> ignored);

/// @param tenant empty for senders without a tenant header.
tenant_key tenant_key_of(std::string_view tenant, const hash_key& key) noexcept;

}  // namespace seriesgate
