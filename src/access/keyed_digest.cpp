#include "access/keyed_digest.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "system/random.hpp"

namespace seriesgate {

bool same_digest(const digest& one, const digest& other) noexcept {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

digest_key::digest_key() {
    fill_random(std::as_writable_bytes(std::span{key_}));
}

digest digest_key::of(std::initializer_list<std::string_view> texts) const {
    std::string whole;
    for (const std::string_view each : texts) {
        const std::uint64_t size = each.size();
        for (unsigned shift = 0; shift < 64; shift += 8) whole += static_cast<char>(size >> shift & 0xff);
        whole += each;
    }
    digest made;
    unsigned size = 0;
    const auto* const bytes = reinterpret_cast<const unsigned char*>(whole.data());
    const auto* const done =
        HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()), bytes, whole.size(), made.data(), &size);
    OPENSSL_cleanse(whole.data(), whole.size());
    if (done == nullptr || size != made.size()) throw std::bad_alloc{};  // nothing else can fail
    return made;
}

}  // namespace seriesgate
