#pragma once

#include <string>
#include <string_view>

namespace seriesgate {

/// With padding, in one line. Source: RFC 4648, section 4.
inline std::string to_base64(std::string_view text) {
    constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string coded;
    for (std::size_t at = 0; at < text.size(); at += 3) {
        const std::string_view three = text.substr(at, 3);
        unsigned bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
        for (std::size_t i = 0; i < 4; ++i) coded += i > three.size() ? '=' : alphabet[bits >> (18 - 6 * i) & 63];
    }
    return coded;
}

}  // namespace seriesgate
