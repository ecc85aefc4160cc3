#include "redis/redis_script.hpp"

#include <openssl/evp.h>

#include <array>
#include <new>
#include <utility>

namespace seriesgate {
namespace {

std::string sha1_of(const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) throw std::bad_alloc{};
    std::string made;
    for (unsigned i = 0; i < size; ++i) {
        made += "0123456789abcdef"[digest[i] >> 4];
        made += "0123456789abcdef"[digest[i] & 15];
    }
    return made;
}

}  // namespace

redis_script::redis_script(std::string lua) : text(std::move(lua)), sha1(sha1_of(text)) {}

}  // namespace seriesgate
