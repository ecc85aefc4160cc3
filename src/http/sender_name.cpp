#include "http/sender_name.hpp"

namespace seriesgate {

std::string sender_at(const stream_endpoint& peer) {
    if (const auto known = ip_address_of(peer)) return known->to_string();
    return is_unix(peer) ? "unix" : "";
}

}  // namespace seriesgate
