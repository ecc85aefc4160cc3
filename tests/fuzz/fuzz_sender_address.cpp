// What proxies say of the sender: the bytes as the begin of a connection, which reads alike in pieces; as
// X-Forwarded-For and Forwarded, of which a line that a proxy appends decides; and as a network, which reads back.
#include "core/sender_address.hpp"
#include "fuzz/fuzz_target.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

void require_same_in_pieces(bytes_view begin) {
    const proxy_header whole = parse_proxy_header(begin);
    require(whole.size <= begin.size() && whole.size <= proxy_header_bytes_max, "a header longer than what came");
    require((whole.state == proxy_header_state::complete) == (whole.size != 0), "a header without bytes");
    require(whole.state == proxy_header_state::complete || !whole.source, "a sender without a header");
    require(whole.state != proxy_header_state::incomplete || begin.size() < proxy_header_bytes_max, "no end");
    for (std::size_t size = 0; size <= std::min<std::size_t>(begin.size(), 400); ++size) {
        const proxy_header part = parse_proxy_header(begin.substr(0, size));
        if (part.state == proxy_header_state::incomplete) continue;
        require(part.state == whole.state && part.size == whole.size && part.source == whole.source,
                "pieces read otherwise");
    }
}

template <class Add>
void require_believed_at_the_end(std::string_view line, std::span<const ip_network> trusted,
                                 const std::string& appended, Add add) {
    forwarded_chain own{trusted};
    (own.*add)(line);
    require(!own.is_empty() || !own.sender(), "a sender of nothing");
    if (own.sender()) {
        const std::string text = own.sender()->to_string();
        require(parse_ip_address(text) == own.sender(), "an address that does not read back");
    }
    (own.*add)(appended);
    require(own.sender() == parse_ip_address("203.0.113.9"), "the appended sender is not believed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const bytes_view bytes = as_bytes(data, size);
    require_same_in_pieces(bytes);
    const std::vector<ip_network> trusted{*parse_ip_network("10.0.0.0/8"), *parse_ip_network("2001:db8::/32")};
    require_believed_at_the_end(bytes, trusted, "203.0.113.9, 10.0.0.1", &forwarded_chain::add_list);
    forwarded_chain one_line{trusted};
    one_line.add_list(std::string{bytes} + ", 203.0.113.9:80, 10.0.0.1");
    require(one_line.sender() == parse_ip_address("203.0.113.9"), "the end of a line is not believed");
    require_believed_at_the_end(bytes, trusted, "for=203.0.113.9, for=\"[2001:db8::1]\"",
                                &forwarded_chain::add_forwarded);
    if (const auto network = parse_ip_network(bytes)) {
        require(parse_ip_network(network->to_string()) == network, "a network that does not read back");
        require(network->contains(network->first), "a network without its first address");
    }
    return 0;
}
