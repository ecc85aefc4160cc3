/// What the Authorization header says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/secret_text.hpp"

namespace seriesgate {

/// Bcrypt looks at the first 72 bytes. Real passwords are shorter; a longer one is not worth a look.
inline constexpr std::size_t password_bytes_max = 128;
inline constexpr std::size_t token_bytes_max = 4096;

struct credentials {
    enum class kind : std::uint8_t {
        unreadable,  ///< another scheme, or none at all
        basic,
        bearer,
    };
    kind as = kind::unreadable;
    std::string user{};    ///< of basic
    secret_text secret{};  ///< the password, or the token
};

/// Reads one value of the header. Whatever cannot be a credential of ours is unreadable, too long ones included.
/// Sources: RFC 9110, section 11.4; RFC 7617, section 2; RFC 6750, section 2.1.
credentials read_authorization(std::string_view value);

}  // namespace seriesgate
