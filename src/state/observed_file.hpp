/// What was seen of series, kept over restarts: nothing is decided by it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/state_stream.hpp"
#include "state/state_directory.hpp"

namespace seriesgate {

/// The file `observed`, always whole or absent. It is apart from `state`, so that what is wrong with one costs nothing
/// of the other.
///
/// Format: "SGSEEN1\n", format version (4 bytes), the secret's identity (8 bytes, see hash_key::identity; what was
/// hashed with another one is of no use), what the parts write, and the XXH3-64 of everything before it.
/// Threads: one at a time.
class observed_file {
  public:
    /// Raised when a part writes something else. Files of other versions are refused.
    static constexpr std::uint32_t format_version = 1;
    /// More is no file of ours: parts are bounded.
    static constexpr std::size_t bytes_max = 128u << 20;

    observed_file(const state_directory& directory, std::uint64_t secret) : directory_(directory), secret_(secret) {}

    /// Unless it is what was saved last. Throws std::runtime_error with a readable line.
    /// @param write called once, for all parts.
    void save(const std::function<void(state_encoder&)>& write);

    /// @param read called once, if there is a file that is whole; what it does not take has to stay as it was.
    /// @return why there is one and it was not taken, one line; empty otherwise.
    [[nodiscard]] std::string load(const std::function<bool(state_decoder&)>& read) const;

  private:
    const state_directory& directory_;
    std::uint64_t secret_;
    std::uint64_t saved_ = 0;  // the sum at the end of what was saved last
};

}  // namespace seriesgate
