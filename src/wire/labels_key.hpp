/// The bytes of a series' labels as 64 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Longer labels have no key: such are rare, and what is done for every byte of them is not worth it.
inline constexpr std::size_t keyed_bytes_max = 4'096;

/// A keyed hash of the labels as they are written, of several series at a time. Two label sets have one key with the
/// probability of two random numbers, also where who chooses them knows all but the secret. Another processor may make
/// other keys: they are not for keeping.
/// @param labels of each series; none, or at most keyed_bytes_max bytes.
/// @param keys becomes the key of each; 0 for no labels, and never 0 for others.
void labels_keys(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

/// The one for any processor: text_hash().
void labels_keys_portable(std::span<const bytes_view> labels, const hash_key& key, std::uint64_t* keys) noexcept;

}  // namespace seriesgate
