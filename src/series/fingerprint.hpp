/// The identity of a series as 64 bits.
///
/// A fingerprint is the sum of its labels' hashes (XXH3-64 of name and value each, keyed with the installation's
/// secret, see label_hash.hpp), mixed with the tenant. A sum does not depend on the order of labels, needs nothing to
/// be written in a canonical form first, and is corrected by what differs where a series follows one that is almost the
/// same (wire/label_walk.hpp); in remote write 2 a symbol is hashed once a request. Empty values add nothing. The same
/// series has the same fingerprint in both versions.
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

// --- The last step of a hash.

/// Spreads every bit over all others; different numbers stay different.
/// Source: github.com/Cyan4973/xxHash, XXH64_avalanche.
inline std::uint64_t avalanche(std::uint64_t bits) noexcept {
    bits = (bits ^ bits >> 33) * 0xc2b2ae3d27d4eb4fu;
    bits = (bits ^ bits >> 29) * 0x165667b19e3779f9u;
    return bits ^ bits >> 32;
}

// --- A keyed hash of a text, whoever chooses it.

/// Of what is called secret here: that of a hash_key.
inline constexpr std::size_t text_secret_bytes = 192;

/// Up to here XXH3 multiplies 64 by 64 bits. Beyond, it has only products of 32 by 32, and adds them up: whoever finds
/// two texts that meet, which takes 2^32 tries, has found how to make as many as they like meet under this secret.
inline constexpr std::size_t text_piece_bytes = 240;

/// @param text of 1 to text_piece_bytes.
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits_withSecret. (Not withSecretandSeed: that one leaves the secret out
/// of texts up to 240 bytes.)
inline std::uint64_t piece_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(!text.empty() && text.size() <= text_piece_bytes);
    return std::max<std::uint64_t>(XXH3_64bits_withSecret(text.data(), text.size(), secret, text_secret_bytes), 1);
}

/// Of a longer text: that of its pieces, one after the other, so that who has two pieces of one hash has no more than
/// that. @param text of more than text_piece_bytes.
std::uint64_t long_text_hash(bytes_view text, const unsigned char* secret) noexcept;

/// Of a name or a value, or of many labels. 0 is kept for the empty text.
/// @param secret of a hash_key.
inline std::uint64_t text_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(secret != nullptr);
    if (text.empty()) return 0;
    if (text.size() > text_piece_bytes) [[unlikely]]
        return long_text_hash(text, secret);
    return piece_hash(text, secret);
}

// --- What makes the hashes of this installation its own.

/// The secret that every hash of a name, a value or a tenant depends on. Without it, who chooses label values could
/// work out which of them collide: XXH3 of eight bytes can be inverted in half a millisecond.
///
/// Copies share the secret. Threads: any.
class hash_key {
  public:
    /// What XXH3 wants; it is made from the random bytes so that each of them counts for texts of every length.
    static constexpr std::size_t secret_bytes = 192;
    /// A key as long as a text, for hashes that spend it byte by byte.
    static constexpr std::size_t long_secret_bytes = 4'096 + 64;
    /// Fewer random bytes could be tried out.
    static constexpr std::size_t random_bytes_min = 32;

    /// @param random at least random_bytes_min bytes, from the system's generator or a file.
    /// Source: github.com/Cyan4973/xxHash, XXH3_generateSecret.
    explicit hash_key(bytes_view random);

    /// One that everybody knows: for tests, benchmarks, and readers whose hashes nobody keeps.
    static const hash_key& known_to_all();

    /// secret_bytes of them, for XXH3_64bits_withSecret and its kin.
    [[nodiscard]] const unsigned char* secret() const noexcept { return secrets_->secret.data(); }
    /// long_secret_bytes of them.
    [[nodiscard]] const unsigned char* long_secret() const noexcept { return secrets_->long_secret.data(); }
    /// Of a text, for tables whose keys senders choose: with a hash that they know they could fill one bucket.
    [[nodiscard]] std::size_t operator()(bytes_view text) const noexcept;
    /// Tells keys apart without giving them away.
    [[nodiscard]] std::uint64_t identity() const noexcept;

  private:
    struct secrets {
        std::array<unsigned char, secret_bytes> secret;
        alignas(64) std::array<unsigned char, long_secret_bytes> long_secret;
    };
    std::shared_ptr<const secrets> secrets_;
};

// --- What one label adds to the fingerprint of its series; see fingerprint.hpp. For those who walk labels.

/// Of a label by the hashes of its name and its value; 0 for an empty value, which is as good as no label. For a given
/// name it is another one for every value, and the other way round: there is no name under which all values are the
/// same series, as there would be with a product of the two. A name and a value do not change places. Source: the last
/// step of XXH64 (XXH64_avalanche); the factor is its XXH_PRIME64_1.
inline std::uint64_t label_hash(std::uint64_t name_hash, std::uint64_t value_hash) noexcept {
    assert(name_hash != 0);  // no label is without a name
    return value_hash == 0 ? 0 : avalanche(name_hash * 0x9e3779b185ebca87u + value_hash);
}

// --- What the series of one classic histogram have in common.

/// The classic histogram (or summary) that a series is part of, going by its name: `x_bucket` with a label `le`,
/// `x_sum` or `x_count`. Whether such a histogram exists cannot be told: a counter that is called `x_count` is a family
/// of one.
struct histogram_family {
    std::uint64_t fingerprint = 0;  ///< equal for all its series, and no series' own; 0: part of none
    bool is_total = false;          ///< `_sum` or `_count`

    explicit operator bool() const noexcept { return fingerprint != 0; }
    friend bool operator==(const histogram_family&, const histogram_family&) = default;
};

/// What a tenant makes of the sum of a series' labels: a permutation of its own, so that no two label sets that meet in
/// one tenant, or in two, tell anything of others. (Were the tenant added, one pair that meets would make a meeting
/// pair of everything that is added to both.)
struct tenant_key {
    std::uint64_t flip = 0;
    std::uint64_t factor = 1;  ///< odd
};

/// @param labels_hash the sum of the labels' hashes.
/// @param tenant equal labels of two tenants are two series.
inline std::uint64_t fingerprint_of(std::uint64_t labels_hash, const tenant_key& tenant) noexcept {
    assert(tenant.factor % 2 == 1);  // else not a permutation
    return avalanche((labels_hash ^ tenant.flip) * tenant.factor);
}

/// Of what a series has in labels that do not count: that alone, apart from all fingerprints of series. Never 0.
/// @param ignored_hash the sum of these labels' hashes.
inline std::uint64_t ignored_value_of(std::uint64_t ignored_hash, const tenant_key& tenant) noexcept {
    constexpr std::uint64_t domain = 0xe7037ed1a0b428db;
    const std::uint64_t value = fingerprint_of(ignored_hash, {.flip = tenant.flip ^ domain, .factor = tenant.factor});
    return value == 0 ? 1 : value;
}

/// Which labels count, and the sum of their hashes for a whole set in any form.
/// Threads: one at a time (it owns buffers).
class label_hasher {
    hash_key key_;
    std::vector<std::string> ignored_;
    bool ignores_any_;
    std::vector<label_view> labels_;
    std::vector<label_view> common_;  // of a histogram's series

  public:
    /// @param ignored names of labels that do not count, such as those that tell the replicas of an HA pair apart.
    explicit label_hasher(hash_key key, std::vector<std::string> ignored = {})
        : key_(std::move(key)), ignored_(std::move(ignored)), ignores_any_(!ignored_.empty()) {}

    [[nodiscard]] const hash_key& key() const noexcept { return key_; }
    /// The secret that its hashes are made with, for those who hash the texts by themselves.
    [[nodiscard]] const unsigned char* secret() const noexcept { return key_.secret(); }

    /// Labels of one name that come more than once are invalid, and stores differ in whether they take the first or the
    /// last: such sets are different series when their order differs.
    std::uint64_t operator()(std::span<const label_view> labels);

    /// The same for the labels that do not count: 0 if none of them has a value.
    std::uint64_t ignored(std::span<const label_view> labels);

    [[nodiscard]] bool ignores_any() const noexcept { return ignores_any_; }
    [[nodiscard]] bool ignores(bytes_view name) const noexcept;

    /// The histogram that a series is part of, by the same rules: the hash is over what its series share, the labels
    /// without `le` and the name without its suffix.
    histogram_family family(std::span<const label_view> labels, const tenant_key& tenant);

    /// Gives the memory of a giant back.
    void shrink();

  private:
    std::uint64_t sum_of(std::span<const label_view> labels, bool ignored);
};

/// Tells apart which labels were left out of fingerprints, for whoever keeps them. The order of the names does not
/// matter. The key has an identity of its own; how fingerprints are made belongs to the format of the state, see
/// snapshot_file::format_version.
std::uint64_t ignored_labels_identity(std::vector<std::string> ignored);

/// @param tenant empty for senders without a tenant header.
tenant_key tenant_key_of(std::string_view tenant, const hash_key& key) noexcept;

}  // namespace seriesgate
