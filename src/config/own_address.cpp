#include "config/own_address.hpp"

#include <arpa/inet.h>

#include <cstring>
#include <string>

#include "config/wording.hpp"

namespace seriesgate {
namespace {

/// What connects to the address; 0.0.0.0 and :: stand for this machine.
enum class family : std::uint8_t { none, v4, v6, both };

struct place {
    family of = family::none;  ///< none: another machine, or a name that says nothing
    bool everywhere = false;   ///< 0.0.0.0 or ::
    std::uint32_t v4 = 0;      ///< which loopback address
};

place place_of_v4(const in_addr& address) noexcept {
    const std::uint32_t v4 = ntohl(address.s_addr);
    if (v4 == INADDR_ANY) return {family::v4, true};
    return v4 >> 24 == 127 ? place{family::v4, false, v4} : place{};
}

place place_of_v6(const in6_addr& address) noexcept {
    if (IN6_IS_ADDR_UNSPECIFIED(&address)) return {family::v6, true};
    if (IN6_IS_ADDR_LOOPBACK(&address)) return {family::v6};
    if (!IN6_IS_ADDR_V4MAPPED(&address)) return {};
    in_addr v4{};
    std::memcpy(&v4, &address.s6_addr[12], sizeof v4);
    return place_of_v4(v4);
}

place place_of(std::string host) {
    if (host.ends_with('.')) host.pop_back();
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return place_of_v4(v4);
    in6_addr v6{};
    if (::inet_pton(AF_INET6, host.c_str(), &v6) == 1) return place_of_v6(v6);
    if (host == "ip6-localhost") return {family::v6};
    const bool is_this_machine = host == "localhost" || host.ends_with(".localhost");
    return is_this_machine ? place{family::both, false, INADDR_LOOPBACK} : place{};
}

/// Connecting to :: ends at ::1, to 0.0.0.0 at 127.0.0.1; listening there takes all of the family. Linux gives a
/// listener on :: the connections of both families.
bool is_same_socket(const place& ours, const place& theirs) {
    if (ours.everywhere && ours.of == family::v6) return true;
    if (ours.of != family::both && theirs.of != family::both && ours.of != theirs.of) return false;
    if (ours.of == family::v6 || theirs.of == family::v6 || ours.everywhere) return true;
    return ours.v4 == (theirs.everywhere ? INADDR_LOOPBACK : theirs.v4);
}

bool are_two_of_v4(const std::string& one, const std::string& other) {
    return one != other && one.starts_with("127.") && other.starts_with("127.");
}

}  // namespace

own_address find_own_address(const listen_address& listen, const store_backend& upstream) {
    if (!listen.unix_path.empty() || listen.port == 0 || listen.port != upstream.port) return own_address::no;
    const std::string our_host = in_lower_case(listen.host);
    const std::string their_host = in_lower_case(upstream.host);
    if (our_host == their_host) return own_address::yes;
    const place ours = place_of(our_host);
    const place theirs = place_of(their_host);
    if (ours.of == family::none || theirs.of == family::none) return own_address::no;
    if (is_same_socket(ours, theirs)) return own_address::yes;
    // Whoever writes 127.0.0.1 and 127.0.0.2 means two.
    return are_two_of_v4(our_host, their_host) ? own_address::no : own_address::maybe;
}

std::string in_words(own_address found, std::string_view key) {
    switch (found) {
        case own_address::yes:
            return "is the address of " + in_quotes(key) +
                   ": the gate would send to itself; the store listens elsewhere";
        case own_address::maybe:
            return "is another address of this machine with the port of " + in_quotes(key) +
                   ": if no store listens there, it is wrong";
        case own_address::no:
            break;
    }
    return "";
}

}  // namespace seriesgate
