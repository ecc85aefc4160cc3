#include "config/own_address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "config/wording.hpp"

namespace seriesgate {
namespace {

enum class place : std::uint8_t {
    everywhere,  ///< 0.0.0.0 or ::; to connect to it is to connect to this machine
    loopback,
    other,
};

place place_of_v6(const in6_addr& address) noexcept {
    if (IN6_IS_ADDR_UNSPECIFIED(&address)) return place::everywhere;
    if (IN6_IS_ADDR_LOOPBACK(&address)) return place::loopback;
    return IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127 ? place::loopback : place::other;
}

place place_of(std::string host) {
    if (host.ends_with('.')) host.pop_back();
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
        if (v4.s_addr == htonl(INADDR_ANY)) return place::everywhere;
        return (ntohl(v4.s_addr) >> 24) == 127 ? place::loopback : place::other;
    }
    in6_addr v6{};
    if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return place_of_v6(v6);
    const bool is_this_machine = host == "localhost" || host.ends_with(".localhost") || host == "ip6-localhost";
    return is_this_machine ? place::loopback : place::other;
}

/// 127.0.0.1 and 127.0.0.2 are two addresses of one machine, and two programs may listen there.
bool are_two_of_v4(const std::string& one, const std::string& other) {
    return one != other && one.starts_with("127.") && other.starts_with("127.");
}

}  // namespace

bool is_own_address(const listen_address& listen, const upstream_config& upstream) {
    if (upstream.discard || listen.port == 0 || listen.port != upstream.port) return false;
    const std::string ours = in_lower_case(listen.host);
    const std::string theirs = in_lower_case(upstream.host);
    if (ours == theirs) return true;
    if (place_of(ours) == place::other || place_of(theirs) == place::other) return false;
    return !are_two_of_v4(ours, theirs);
}

}  // namespace seriesgate
