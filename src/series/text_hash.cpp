#include "series/text_hash.hpp"

#include "series/avalanche.hpp"

namespace seriesgate {

// Flattened: XXH3 with a secret is a call else, and where labels have no faster key this is that of all their bytes.
[[gnu::flatten]] std::uint64_t long_text_hash(bytes_view text, const unsigned char* secret) noexcept {
    assert(text.size() > text_piece_bytes);
    std::uint64_t hash = 0;
    for (; text.size() > text_piece_bytes; text.remove_prefix(text_piece_bytes))
        hash = avalanche(hash + piece_hash(text.substr(0, text_piece_bytes), secret));
    return std::max<std::uint64_t>(avalanche(hash + piece_hash(text, secret)), 1);
}

}  // namespace seriesgate
