#include "access/bcrypt.hpp"

#include <crypt.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <cassert>
#include <cstring>
#include <memory>
#include <string_view>

namespace seriesgate {
namespace {

/// The state of a check is as good as the password.
struct cleanser {
    void operator()(crypt_data* used) const noexcept {
        OPENSSL_cleanse(used, sizeof *used);
        delete used;
    }
};

}  // namespace

bool bcrypt_matches(const std::string& password, const std::string& hash) {
    const std::unique_ptr<crypt_data, cleanser> room{new crypt_data{}};
    // Not crypt_r: sanitizers bring one of their own along, which leads to nowhere if libcrypt is not needed otherwise.
    const char* const made = crypt_rn(password.c_str(), hash.c_str(), room.get(), sizeof(crypt_data));
    if (made == nullptr) return false;
    const std::string_view text{made};
    return text.size() == hash.size() && CRYPTO_memcmp(text.data(), hash.data(), hash.size()) == 0;
}

int bcrypt_cost(const std::string& hash) {
    assert(hash.size() == 60);
    return (hash[4] - '0') * 10 + (hash[5] - '0');
}

std::string bcrypt_of_nobody(int cost) {
    return fmt::format("$2y${:02}$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi", cost);
}

}  // namespace seriesgate
