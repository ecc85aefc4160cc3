/// The fingerprint by the book: slow, simple, and without any of the code that it checks but for the key itself.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "series/fingerprint.hpp"

namespace seriesgate::testing {

using label_texts = std::vector<std::pair<std::string, std::string>>;

/// A length-delimited field of Protocol Buffers with a field number below 16.
inline std::string reference_field(int number, std::string_view payload) {
    std::string out(1, static_cast<char>(number << 3 | 2));
    std::size_t size = payload.size();
    for (; size > 127; size /= 128) out += static_cast<char>(size % 128 + 128);
    out += static_cast<char>(size);
    out += payload;
    return out;
}

/// Label records as of remote write 1, sorted by name, without empty values.
inline std::string canonical_text(label_texts labels) {
    std::stable_sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out;
    for (const auto& [name, value] : labels)
        if (!value.empty()) out += reference_field(1, reference_field(1, name) + reference_field(2, value));
    return out;
}

/// The last step of XXH64.
inline std::uint64_t reference_avalanche(std::uint64_t hash) {
    hash ^= hash >> 33;
    hash *= 0xc2b2ae3d27d4eb4f;
    hash ^= hash >> 29;
    hash *= 0x165667b19e3779f9;
    hash ^= hash >> 32;
    return hash;
}

/// Of up to 240 bytes; of more, piece after piece.
inline std::uint64_t reference_text_hash(const std::string& text) {
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < text.size(); at += 240) {
        const std::string piece = text.substr(at, 240);
        const std::uint64_t of_piece =
            XXH3_64bits_withSecret(piece.data(), piece.size(), hash_key::known_to_all().secret(), 192);
        hash += of_piece == 0 ? 1 : of_piece;
        if (text.size() > 240) hash = reference_avalanche(hash);
    }
    return hash == 0 && !text.empty() ? 1 : hash;
}

/// Each label by itself, added up. Of labels with the same name the second, third and so on are told apart.
inline std::uint64_t reference_labels_hash(label_texts labels) {
    std::erase_if(labels, [](const auto& label) { return label.second.empty(); });
    std::map<std::string, std::uint64_t> seen;
    std::uint64_t sum = 0;
    for (const auto& [name, value] : labels) {
        const std::uint64_t of_name = reference_text_hash(name) + seen[name]++;
        sum += reference_avalanche(of_name * 0x9e3779b185ebca87 + reference_text_hash(value));
    }
    return sum;
}

inline std::uint64_t reference_fingerprint(const label_texts& labels, const tenant_key& tenant) {
    return reference_avalanche((reference_labels_hash(labels) ^ tenant.flip) * tenant.factor);
}

/// Some tenant's.
inline tenant_key numbered_tenant(std::uint64_t number) {
    return {.flip = reference_avalanche(number), .factor = number * 2 + 1};
}

}  // namespace seriesgate::testing
