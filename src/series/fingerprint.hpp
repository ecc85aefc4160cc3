/// The identity of a series as 64 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/write_request.hpp"

namespace seriesgate {

/// XXH3-64 over the canonical label set: labels sorted by name (bytewise), empty values dropped, written as the label
/// records of remote write 1 in their shortest encoding. The lengths in it make the text unambiguous (`a="b",c="d"`
/// and `a="bc=d"` differ), and what senders send is already in this form, so the common case hashes the request's own
/// bytes. The same series has the same fingerprint in any label order and, later, in remote write 2.
///
/// Threads: one at a time (it owns the buffers of the rare case).
/// Source: github.com/Cyan4973/xxHash, XXH3_64bits_withSeed.
class fingerprinter {
    std::vector<label_view> sorted_;
    std::string canonical_;

  public:
    /// @param series as a reader shows it.
    /// @param seed tells tenants apart: equal labels of two tenants are two series.
    std::uint64_t operator()(const series_view& series, std::uint64_t seed);

  private:
    void write_canonical(const series_view& series);
};

}  // namespace seriesgate
