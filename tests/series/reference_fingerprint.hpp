/// The fingerprint by the book: slow, simple, and without any of the code that it checks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

inline std::uint64_t reference_fingerprint(const label_texts& labels, std::uint64_t seed) {
    const std::string text = canonical_text(labels);
    return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace seriesgate::testing
