#include "access/authorization.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/text.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t user_bytes_max = 256;
/// Of a user, a colon and a password in base64.
constexpr std::size_t basic_bytes_max = (user_bytes_max + 1 + password_bytes_max + 2) / 3 * 4;

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Strictly: with its padding, and nothing else. Source: RFC 4648, section 4.
std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    text.remove_suffix(padding);
    std::string bytes;
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char each : text) {
        const std::size_t value = alphabet.find(each);
        if (value == std::string_view::npos) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return bytes;
}

credentials basic(std::string_view encoded) {
    if (encoded.size() > basic_bytes_max) return {};
    const auto text = from_base64(encoded);
    if (!text) return {};
    const std::size_t colon = text->find(':');
    if (colon == std::string::npos || colon > user_bytes_max) return {};
    std::string password = text->substr(colon + 1);
    // To bcrypt, a password ends at a zero.
    if (password.size() > password_bytes_max || password.find('\0') != std::string::npos) return {};
    return {credentials::kind::basic, text->substr(0, colon), secret_text{std::move(password)}};
}

credentials bearer(std::string_view token) {
    if (token.empty() || token.size() > token_bytes_max) return {};
    return {credentials::kind::bearer, {}, secret_text{token}};
}

}  // namespace

credentials read_authorization(std::string_view value) {
    const std::size_t space = value.find(' ');
    if (space == std::string_view::npos) return {};
    const std::string_view scheme = value.substr(0, space);
    value.remove_prefix(std::min(value.find_first_not_of(' ', space), value.size()));
    if (equal_ignoring_case(scheme, "basic")) return basic(value);
    if (equal_ignoring_case(scheme, "bearer")) return bearer(value);
    return {};
}

}  // namespace seriesgate
