/// Who sent it, behind proxies: IP addresses, networks, the PROXY protocol, X-Forwarded-For and Forwarded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/bytes.hpp"

namespace seriesgate {

// --- Addresses and networks.

/// An IPv6 address; an IPv4 address has its mapped form, `::ffff:192.0.2.1`.
struct ip_address {
    std::array<std::uint8_t, 16> bytes{};

    static constexpr std::array<std::uint8_t, 12> v4_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    [[nodiscard]] bool is_v4() const noexcept;
    /// IPv4 in its usual form.
    [[nodiscard]] std::string to_string() const;
    bool operator==(const ip_address&) const = default;
};

/// @param bytes four or sixteen, highest first.
[[nodiscard]] ip_address ip_address_of(bytes_view bytes) noexcept;
/// @return nothing for any other text, such as one with a zone, a port or brackets.
[[nodiscard]] std::optional<ip_address> parse_ip_address(std::string_view text) noexcept;

struct ip_network {
    ip_address first{};
    unsigned prefix_bits = 128;  ///< of the IPv6 form: `10.0.0.0/8` has 104

    /// `::/0` contains no IPv4 address.
    [[nodiscard]] bool contains(const ip_address& address) const noexcept;
    /// An address without its length, or `10.0.0.0/8`.
    [[nodiscard]] std::string to_string() const;
    bool operator==(const ip_network&) const = default;
};

/// An address, or a network such as `10.0.0.0/8` or `2001:db8::/32`. @return nothing for one with bits after its
/// prefix.
[[nodiscard]] std::optional<ip_network> parse_ip_network(std::string_view text) noexcept;

[[nodiscard]] bool contains(std::span<const ip_network> networks, const ip_address& address) noexcept;

// --- The PROXY protocol's header, with which a connection begins.
// Source: https://www.haproxy.org/download/2.8/doc/proxy-protocol.txt

/// A line of version 1, with its end.
inline constexpr std::size_t proxy_line_bytes_max = 107;
/// Version 2 after its first 16 bytes: addresses and type-length-values. The protocol allows 65535.
inline constexpr std::size_t proxy_body_bytes_max = 4096;
inline constexpr std::size_t proxy_header_bytes_max = 16 + proxy_body_bytes_max;

enum class proxy_header_state : std::uint8_t {
    incomplete,  ///< may become one with further bytes
    complete,
    absent,  ///< something else
    malformed,
};

struct proxy_header {
    proxy_header_state state = proxy_header_state::absent;
    std::size_t size = 0;  ///< of a complete one; what follows belongs to the connection
    /// Nothing: the connection's own address holds, as for LOCAL (the proxy itself), UNKNOWN, UDP and unix sockets.
    std::optional<ip_address> source{};
};

/// @param begin the connection's bytes so far. Bounded by proxy_header_bytes_max. Skips type-length-values.
[[nodiscard]] proxy_header parse_proxy_header(bytes_view begin) noexcept;

// --- The headers of HTTP proxies.

/// The sender by the addresses that proxies have appended: from the right, the first one that is not trusted; the
/// leftmost if all are. So what a sender writes itself counts for nothing. Works in one pass, without allocations.
class forwarded_chain {
    std::span<const ip_network> trusted_;
    std::optional<ip_address> sender_{};
    bool is_empty_ = true;

  public:
    explicit forwarded_chain(std::span<const ip_network> trusted) noexcept : trusted_(trusted) {}

    /// One line of X-Forwarded-For; call it for all lines in order. Addresses may have ports.
    void add_list(std::string_view line) noexcept;
    /// One line of Forwarded. Source: RFC 7239, section 4.
    void add_forwarded(std::string_view line) noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return is_empty_; }
    /// Nothing if nothing was appended, or something unreadable: the peer's address holds.
    [[nodiscard]] const std::optional<ip_address>& sender() const noexcept { return sender_; }

  private:
    void append(const std::optional<ip_address>& address) noexcept;
};

}  // namespace seriesgate
