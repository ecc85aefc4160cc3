/// The identity of a series as 64 bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "series/histogram_family.hpp"
#include "wire/canonical_labels.hpp"
#include "wire/write_request.hpp"

namespace seriesgate {

/// XXH3-64 over the canonical label set: labels sorted by name (bytewise), empty values dropped, written as the label
/// records of remote write 1 in their shortest encoding. The lengths in it make the text unambiguous (`a="b",c="d"`
/// and `a="bc=d"` differ), and what senders send is already in this form, so the common case hashes the request's own
/// bytes. The same series has the same fingerprint in any label order and in remote write 2.
///
/// Threads: one at a time (it owns the buffers of the rare case).
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits_withSeed.
class fingerprinter {
    std::vector<std::string> ignored_;
    std::vector<label_view> labels_;
    std::vector<label_view> sorted_;
    std::vector<label_view> common_;  // of a histogram's series
    label_run_buffer canonical_;

  public:
    /// @param ignored names of labels that do not count, such as those that tell the replicas of an HA pair apart.
    explicit fingerprinter(std::vector<std::string> ignored = {}) : ignored_(std::move(ignored)) {}

    /// @param series as a reader shows it.
    /// @param seed tells tenants apart: equal labels of two tenants are two series.
    std::uint64_t operator()(const series_view& series, std::uint64_t seed);

    /// By the same rules, of what the series of one histogram share: the labels without `le`, the name without its
    /// suffix.
    histogram_family family(std::span<const label_view> labels, std::uint64_t seed);

  private:
    [[nodiscard]] bool is_ignored(const label_view& label) const noexcept;
    bytes_view canonical_set(const series_view& series);
    [[nodiscard]] bool has_ignored(std::span<const label_view> labels) const noexcept;
    bytes_view write_canonical(std::span<const label_view> labels);
    std::span<const label_view> sort_labels(std::span<const label_view> labels);
};

/// Tells apart by what rules fingerprints were made, for whoever keeps them. The order of the names does not matter.
std::uint64_t fingerprint_identity(std::vector<std::string> ignored);

/// The seed of a tenant: 0 for the empty one, which senders without a tenant header have.
std::uint64_t tenant_seed(std::string_view tenant) noexcept;

}  // namespace seriesgate
