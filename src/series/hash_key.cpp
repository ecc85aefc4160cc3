#include "series/hash_key.hpp"

#include <cassert>
#include <cstring>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "series/text_hash.hpp"

namespace seriesgate {

static_assert(hash_key::secret_bytes == text_secret_bytes);

hash_key::hash_key(bytes_view random) {
    assert(random.size() >= random_bytes_min);
    const auto made = std::make_shared<secrets>();
    // Takes any number of bytes but none; the size of the secret is above its minimum.
    XXH3_generateSecret(made->secret.data(), made->secret.size(), random.data(), random.size());
    for (std::size_t at = 0; at < long_secret_bytes; at += sizeof(XXH128_hash_t)) {
        const XXH128_hash_t bits = XXH3_128bits_withSecret(&at, sizeof at, made->secret.data(), secret_bytes);
        std::memcpy(made->long_secret.data() + at, &bits, sizeof bits);
    }
    secrets_ = made;
}

const hash_key& hash_key::known_to_all() {
    static const hash_key key{"seriesgate: a key that everybody knows"};
    return key;
}

std::size_t hash_key::operator()(bytes_view text) const noexcept {
    return text_hash(text, secret());
}

std::uint64_t hash_key::identity() const noexcept {
    // 64 bits of a hash of 192 bytes that stem from 256 random bits or more: nothing to work back from.
    constexpr std::string_view purpose{"identity of a hash key"};
    return (*this)(purpose);
}

}  // namespace seriesgate
