// Any bytes to a TLS session, of a server or a client, before or after its handshake: it goes on or fails for good,
// makes no more than it may, and what it gives on is what a real peer wrote, up to the first byte that was damaged.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/pieces.hpp"
#include "net/tls_pair.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Far above what a handshake makes, and what may wait.
constexpr std::size_t output_bytes_max = 512 * 1024;

/// What both sides of all sessions share.
struct sides {
    certificate own = server_certificate("store.test");
    context_ptr asking = made({.role = tls_role::client, .authorities = own.chain});
    context_ptr asking_old = asking_with(tls_version::v1_2);
    context_ptr serving = made({.role = tls_role::server, .certificates = own.chain, .key = own.key});
    context_ptr serving_known = made({.role = tls_role::server,
                                      .certificates = own.chain,
                                      .key = own.key,
                                      .authorities = own.chain,
                                      .clients = client_certificates::require_and_verify});

    [[nodiscard]] context_ptr asking_with(tls_version newest) const {
        return made({.role = tls_role::client, .authorities = own.chain, .newest = newest});
    }
};

void require_sane(tls_session& of) {
    require(of.failure().find('\n') == std::string::npos, "a failure of several lines");
    require(take_output(of).size() <= output_bytes_max, "much output");
}

/// What is read, to the end of what there is.
std::string read_all(tls_session& of, tls_step& last) {
    std::string all;
    std::array<char, 100> room;
    for (;;) {
        const auto came = of.read(net::buffer(room));
        last = came.step;
        if (came.step != tls_step::done) return all;
        require(came.bytes != 0 && came.bytes <= room.size(), "a read of nothing");
        all.append(room.data(), came.bytes);
    }
}

/// A peer that is none.
void talk_to_stranger(tls_session& of, pieces& input) {
    tls_step step = of.handshake();
    while (!input.empty() && step == tls_step::wants_input) {
        std::string_view piece = input.next();
        while (!piece.empty() && step == tls_step::wants_input) {
            give_input(of, piece);
            step = of.handshake();
        }
        require_sane(of);
    }
    require(step != tls_step::done, "a handshake with a stranger");
    require((step == tls_step::failed) == !of.failure().empty(), "a failure without words");
    if (step == tls_step::failed) require(of.handshake() == tls_step::failed, "a failure that passes");
}

/// A peer that says each piece; every piece that begins with an odd byte is damaged on its way.
void talk_to_peer(tls_session& of, tls_session& peer, pieces& input) {
    std::string said;
    std::string heard;
    bool whole = true;
    tls_step last = tls_step::wants_input;
    while (!input.empty() && last == tls_step::wants_input) {
        const std::string_view piece = input.next();
        if (peer.write(net::buffer(piece)) != tls_step::done) break;
        std::string wire = take_output(peer);
        if (whole) said += piece;
        if ((piece.front() & 1) != 0 && piece.size() >= 3) {
            const std::size_t where = static_cast<unsigned char>(piece[1]) % wire.size();
            wire[where] = static_cast<char>(wire[where] ^ piece[2]);
            if (whole && piece[2] != 0) said.resize(said.size() - piece.size());
            whole = whole && piece[2] == 0;
        }
        std::string_view rest = wire;
        while (!rest.empty() && last == tls_step::wants_input) {
            give_input(of, rest);
            heard += read_all(of, last);
        }
        require_sane(of);
    }
    require(heard == said, "what is heard is not what was said");
    require(!whole || last == tls_step::wants_input, "a failure without damage");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const sides known;
    pieces input{as_bytes(data, size)};
    const bool of_client = input.choice(0);
    const context_ptr& asking = input.choice(2) ? known.asking_old : known.asking;
    if (input.choice(1)) {
        tls_pair pair{asking, known.serving};
        pair.shake_hands();
        require(pair.is_established(), "no handshake");
        talk_to_peer(of_client ? pair.client : pair.server, of_client ? pair.server : pair.client, input);
    } else if (of_client) {
        tls_session client{asking, "store.test"};
        talk_to_stranger(client, input);
    } else {
        tls_session server{input.choice(3) ? known.serving_known : known.serving};
        talk_to_stranger(server, input);
    }
    return 0;
}
