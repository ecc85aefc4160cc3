/// How TLS ends, apart from how its socket does.
#pragma once

#include <cstdint>
#include <type_traits>

#include "net/asio.hpp"

namespace seriesgate {

enum class tls_error : std::uint8_t {
    failed = 1,  ///< the peer, or we, did not agree: tls_session::failure() says why
    truncated,   ///< the connection ended, and the peer had not said that it would
};

/// For error_code's own use of the enumerators.
[[nodiscard]] error_code make_error_code(tls_error from) noexcept;

}  // namespace seriesgate

template <>
struct boost::system::is_error_code_enum<seriesgate::tls_error> : std::true_type {};
