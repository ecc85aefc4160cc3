/// The identity of a series as 64 bits.
///
/// A fingerprint is the sum of its labels' hashes (XXH3-64 of name and value each, keyed with the installation's
/// secret, see label_hash.hpp), mixed with the tenant. A sum does not depend on the order of labels, needs nothing to
/// be written in a canonical form first, and is corrected by what differs where a series follows one that is almost the
/// same (wire/label_walk.hpp); in remote write 2 a symbol is hashed once a request. Empty values add nothing. The same
/// series has the same fingerprint in both versions.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "series/avalanche.hpp"
#include "series/hash_key.hpp"
#include "series/histogram_family.hpp"
#include "series/label.hpp"

namespace seriesgate {

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
