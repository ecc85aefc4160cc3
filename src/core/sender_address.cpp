#include "core/sender_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "core/text.hpp"

namespace seriesgate {
namespace {

/// `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`.
std::optional<ip_address> address_of_node(std::string_view node) noexcept {
    std::string_view port;
    if (node.starts_with('[')) {
        const auto end = std::min(node.find(']'), node.size());
        port = node.substr(std::min(end + 1, node.size()));
        if (end == node.size() || (!port.empty() && !port.starts_with(':'))) return std::nullopt;
        node = node.substr(1, end - 1);
        if (node.find(':') == std::string_view::npos) return std::nullopt;
    } else if (const auto colon = node.find(':'); colon != std::string_view::npos && colon == node.rfind(':')) {
        port = node.substr(colon);
        node = node.substr(0, colon);
    }
    if (!port.empty() && !whole_number<std::uint16_t>(port.substr(1))) return std::nullopt;
    return parse_ip_address(node);
}

/// Takes the text up to the next delimiter outside of quotes. @param delimiter of the text taken; '\0': the end.
/// @return nothing for a quote without an end.
std::optional<std::string_view> take_part(std::string_view& line, std::string_view delimiters, char& delimiter) {
    bool is_quoted = false;
    std::size_t at = 0;
    for (; at < line.size(); ++at) {
        if (line[at] == '"') is_quoted = !is_quoted;
        if (is_quoted && line[at] == '\\') ++at;
        if (!is_quoted && delimiters.find(line[at]) != std::string_view::npos) break;
    }
    if (is_quoted || at > line.size()) return std::nullopt;
    const std::string_view part = line.substr(0, at);
    delimiter = at == line.size() ? '\0' : line[at];
    line.remove_prefix(std::min(at + 1, line.size()));
    return trimmed(part);
}

/// Without its quotes. No address needs an escape, so none is read.
std::optional<ip_address> address_of_value(std::string_view value) noexcept {
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
    return address_of_node(value);
}

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

ip_address ip_address_of(bytes_view bytes) noexcept {
    ip_address made;
    if (bytes.size() == 4) std::ranges::copy(ip_address::v4_prefix, made.bytes.begin());
    std::memcpy(made.bytes.data() + made.bytes.size() - bytes.size(), bytes.data(), bytes.size());
    return made;
}

bool ip_address::is_v4() const noexcept {
    return std::equal(v4_prefix.begin(), v4_prefix.end(), bytes.begin());
}

std::string ip_address::to_string() const {
    char text[INET6_ADDRSTRLEN] = "";
    const bool has_four = is_v4();
    ::inet_ntop(has_four ? AF_INET : AF_INET6, bytes.data() + (has_four ? v4_prefix.size() : 0), text, sizeof text);
    return text;
}

std::optional<ip_address> parse_ip_address(std::string_view text) noexcept {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size() >= sizeof terminated || text.find('\0') != std::string_view::npos) return std::nullopt;
    *std::ranges::copy(text, terminated).out = '\0';
    char bytes[16];
    if (::inet_pton(AF_INET, terminated, bytes) == 1) return ip_address_of({bytes, 4});
    if (::inet_pton(AF_INET6, terminated, bytes) == 1) return ip_address_of({bytes, 16});
    return std::nullopt;
}

bool ip_network::contains(const ip_address& address) const noexcept {
    constexpr std::size_t v4_prefix_bits = 96;
    if (prefix_bits < v4_prefix_bits && address.is_v4()) return false;
    const std::size_t whole = prefix_bits / 8, rest = prefix_bits % 8;
    if (!std::equal(first.bytes.begin(), first.bytes.begin() + static_cast<std::ptrdiff_t>(whole),
                    address.bytes.begin()))
        return false;
    return rest == 0 || (first.bytes[whole] ^ address.bytes[whole]) >> (8 - rest) == 0;
}

std::string ip_network::to_string() const {
    const std::string text = first.to_string();
    const unsigned bits = prefix_bits - (first.is_v4() ? 96 : 0);
    return prefix_bits == 128 ? text : text + "/" + std::to_string(bits);
}

std::optional<ip_network> parse_ip_network(std::string_view text) noexcept {
    const auto slash = std::min(text.find('/'), text.size());
    const auto address = parse_ip_address(text.substr(0, slash));
    if (!address) return std::nullopt;
    ip_network made{.first = *address};
    if (slash != text.size()) {
        const bool is_v4 = text.find(':') == std::string_view::npos;
        const auto bits = whole_number<unsigned>(text.substr(slash + 1));
        if (!bits || *bits > (is_v4 ? 32u : 128u)) return std::nullopt;
        made.prefix_bits = *bits + (is_v4 ? 96 : 0);
    }
    for (std::size_t bit = made.prefix_bits; bit < 128; ++bit)
        if ((made.first.bytes[bit / 8] & (0x80 >> bit % 8)) != 0) return std::nullopt;
    return made;
}

bool contains(std::span<const ip_network> networks, const ip_address& address) noexcept {
    return std::ranges::any_of(networks, [&](const ip_network& each) { return each.contains(address); });
}

proxy_header parse_proxy_header(bytes_view begin) noexcept {
    const auto begins = [begin](std::string_view signature) {
        const std::size_t size = std::min(begin.size(), signature.size());
        return begin.substr(0, size) == signature.substr(0, size);
    };
    if (begins(line_signature)) return begin.size() < line_signature.size() ? incomplete : parse_version_1(begin);
    if (begins(binary_signature)) return begin.size() < binary_signature.size() ? incomplete : parse_version_2(begin);
    return {};
}

void forwarded_chain::append(const std::optional<ip_address>& address) noexcept {
    if (is_empty_ || !address || !contains(trusted_, *address)) sender_ = address;
    is_empty_ = false;
}

void forwarded_chain::add_list(std::string_view line) noexcept {
    for_each_item(line, [this](std::string_view node) {
        append(address_of_node(node));
        return true;
    });
}

void forwarded_chain::add_forwarded(std::string_view line) noexcept {
    std::optional<ip_address> address;
    std::size_t parts = 0, names = 0;  // of the element at hand; its addresses
    while (!line.empty() || parts != 0) {
        char delimiter = '\0';
        const auto part = take_part(line, ",;", delimiter);
        if (!part) return append(std::nullopt);
        if (!part->empty()) ++parts;
        const auto equals = std::min(part->find('='), part->size());
        if (equal_ignoring_case(part->substr(0, equals), "for")) {
            address = address_of_value(part->substr(std::min(equals + 1, part->size())));
            ++names;
        }
        if (delimiter == ';') continue;
        if (parts != 0) append(names == 1 ? address : std::nullopt);
        parts = names = 0;
    }
}

}  // namespace seriesgate
