/// The last step of a hash.
#pragma once

#include <cstdint>

namespace seriesgate {

/// Spreads every bit over all others; different numbers stay different.
/// Source: github.com/Cyan4973/xxHash, XXH64_avalanche.
inline std::uint64_t avalanche(std::uint64_t bits) noexcept {
    bits = (bits ^ bits >> 33) * 0xc2b2ae3d27d4eb4fu;
    bits = (bits ^ bits >> 29) * 0x165667b19e3779f9u;
    return bits ^ bits >> 32;
}

}  // namespace seriesgate
