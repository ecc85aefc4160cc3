/// What one label adds to the fingerprint of its series; see fingerprint.hpp. For those who walk labels.
#pragma once

#include <cassert>
#include <cstdint>

#include "series/avalanche.hpp"
#include "series/text_hash.hpp"

namespace seriesgate {

/// Of a label by the hashes of its name and its value; 0 for an empty value, which is as good as no label. For a given
/// name it is another one for every value, and the other way round: there is no name under which all values are the
/// same series, as there would be with a product of the two. A name and a value do not change places. Source: the last
/// step of XXH64 (XXH64_avalanche); the factor is its XXH_PRIME64_1.
inline std::uint64_t label_hash(std::uint64_t name_hash, std::uint64_t value_hash) noexcept {
    assert(name_hash != 0);  // no label is without a name
    return value_hash == 0 ? 0 : avalanche(name_hash * 0x9e3779b185ebca87u + value_hash);
}

}  // namespace seriesgate
