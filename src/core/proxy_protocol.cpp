#include "core/proxy_protocol.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text.hpp"

namespace seriesgate {
namespace {

std::uint8_t byte_at(bytes_view text, std::size_t at) noexcept {
    return static_cast<std::uint8_t>(text[at]);
}

constexpr std::string_view line_signature = "PROXY ";
constexpr std::string_view binary_signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t binary_head_bytes = 16;

constexpr proxy_header incomplete{.state = proxy_header_state::incomplete};
constexpr proxy_header malformed{.state = proxy_header_state::malformed};

/// Takes the text up to the next space, which must be there unless it is the last word.
std::optional<std::string_view> take_word(std::string_view& line, bool is_last = false) noexcept {
    const auto space = line.find(' ');
    if ((space == std::string_view::npos) != is_last) return std::nullopt;
    const std::string_view word = line.substr(0, space);
    line.remove_prefix(is_last ? line.size() : space + 1);
    return word;
}

bool is_port(const std::optional<std::string_view>& text) noexcept {
    return text && whole_number<std::uint16_t>(*text) && (*text == "0" || !text->starts_with('0'));
}

/// @param line without its end, after the signature: `TCP4 192.0.2.1 192.0.2.2 56324 443`.
proxy_header parse_line(std::string_view line, std::size_t size) noexcept {
    proxy_header made{.state = proxy_header_state::complete, .size = size};
    if (line == "UNKNOWN" || line.starts_with("UNKNOWN ")) return made;
    const bool is_v4 = line.starts_with("TCP4 ");
    if (!is_v4 && !line.starts_with("TCP6 ")) return malformed;
    line.remove_prefix(5);
    for (const bool is_source : {true, false}) {
        const auto word = take_word(line);
        const auto address = word ? parse_ip_address(*word) : std::nullopt;
        if (!address || is_v4 == (word->find(':') != std::string_view::npos)) return malformed;
        if (is_source) made.source = address;
    }
    const auto source_port = take_word(line), port = take_word(line, true);
    return is_port(source_port) && is_port(port) ? made : malformed;
}

proxy_header parse_version_1(std::string_view begin) noexcept {
    const std::string_view line = begin.substr(0, proxy_line_bytes_max);
    const auto end = line.find('\n');
    if (end == std::string_view::npos) return line.size() == proxy_line_bytes_max ? malformed : incomplete;
    if (line[end - 1] != '\r') return malformed;
    return parse_line(line.substr(line_signature.size(), end - 1 - line_signature.size()), end + 1);
}

/// Rejects what is not of version 2 as soon as its byte is there.
proxy_header parse_version_2(bytes_view begin) noexcept {
    constexpr std::uint8_t local = 0x20, proxied = 0x21;
    if (begin.size() > 12 && byte_at(begin, 12) != local && byte_at(begin, 12) != proxied) return malformed;
    if (begin.size() < binary_head_bytes) return incomplete;
    const unsigned family = byte_at(begin, 13) >> 4, transport = byte_at(begin, 13) & 15;
    const std::size_t size = static_cast<std::size_t>(byte_at(begin, 14) << 8 | byte_at(begin, 15));
    const bool is_local = byte_at(begin, 12) == local;
    constexpr std::array<std::size_t, 4> addresses_bytes{0, 12, 36, 216};  // none, IPv4, IPv6, unix
    if (size > proxy_body_bytes_max) return malformed;
    if (!is_local && (family >= addresses_bytes.size() || transport > 2 || size < addresses_bytes[family]))
        return malformed;
    if (begin.size() < binary_head_bytes + size) return incomplete;
    proxy_header made{.state = proxy_header_state::complete, .size = binary_head_bytes + size};
    if (is_local || transport != 1) return made;
    if (family == 1) made.source = ip_address_of(begin.substr(binary_head_bytes, 4));
    if (family == 2) made.source = ip_address_of(begin.substr(binary_head_bytes, 16));
    return made;
}

}  // namespace

proxy_header parse_proxy_header(bytes_view begin) noexcept {
    const auto begins = [begin](std::string_view signature) {
        const std::size_t size = std::min(begin.size(), signature.size());
        return begin.substr(0, size) == signature.substr(0, size);
    };
    if (begins(line_signature)) return begin.size() < line_signature.size() ? incomplete : parse_version_1(begin);
    if (begins(binary_signature)) return begin.size() < binary_signature.size() ? incomplete : parse_version_2(begin);
    return {};
}

}  // namespace seriesgate
