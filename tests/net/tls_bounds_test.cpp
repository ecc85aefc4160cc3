/// What a peer can make a session hold or do.
#include <malloc.h>
#include <openssl/ssl.h>

#include <list>

#include "net/openssl.hpp"
#include "net/tls_pair.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::tls_bounds_test {
namespace {

/// A client that does with OpenSSL what ours never would.
class rude_client {
    ssl_context_ptr context_{SSL_CTX_new(TLS_client_method())};
    ssl_ptr ssl_{SSL_new(context_.get())};
    BIO* in_ = BIO_new(BIO_s_mem());
    BIO* out_ = BIO_new(BIO_s_mem());

  public:
    explicit rude_client(int version) {
        SSL_set_max_proto_version(ssl_.get(), version);
        SSL_set_bio(ssl_.get(), in_, out_);
        SSL_set_connect_state(ssl_.get());
    }
    [[nodiscard]] SSL* ssl() { return ssl_.get(); }

    void shake_hands(tls_session& with) {
        for (int turn = 0; turn < 5; ++turn) {
            SSL_do_handshake(ssl_.get());
            give(with, take());
            take_answer(with);
        }
        REQUIRE(with.is_established());
        REQUIRE(SSL_is_init_finished(ssl_.get()) == 1);
    }
    /// What it has to send now.
    [[nodiscard]] std::string take() {
        std::string taken(BIO_ctrl_pending(out_), ' ');
        BIO_read(out_, taken.data(), static_cast<int>(taken.size()));
        return taken;
    }
    static void give(tls_session& to, std::string_view bytes) {
        while (!bytes.empty() && to.failure().empty()) {
            give_input(to, bytes);
            std::array<char, 16> into;
            if (!to.is_established()) static_cast<void>(to.handshake());
            if (to.is_established())
                while (to.read(net::buffer(into)).step == tls_step::done) continue;
        }
    }
    void take_answer(tls_session& from) {
        const std::string answer = take_output(from);
        BIO_write(in_, answer.data(), static_cast<int>(answer.size()));
    }
    /// Many times what `say` makes it send. @return how often the other side bore it
    template <class Say>
    int repeat(tls_session& to, int times, Say say) {
        for (int i = 0; i < times; ++i) {
            say();
            give(to, take());
            if (!to.failure().empty()) return i;
        }
        return times;
    }
};

TEST_CASE("keys that change without end, with nothing said, end a session") {
    tls_session server{made(serving())};
    rude_client client{TLS1_3_VERSION};
    client.shake_hands(server);
    const auto change_keys = [&] {
        SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
        SSL_do_handshake(client.ssl());
    };
    SECTION("nothing is said") {
        CHECK(client.repeat(server, 1000, change_keys) == 32);
        CHECK(server.failure() == "much was sent that says nothing");
    }
    SECTION("nor does it help to say a byte each time") {
        const int borne = client.repeat(server, 1000, [&] {
            change_keys();
            SSL_write(client.ssl(), "x", 1);
        });
        CHECK(borne == 32);
        CHECK(server.failure() == "much was sent that says nothing");
    }
    SECTION("nor to send very many at once") {
        std::string all;
        for (int i = 0; i < 600; ++i) {  // all in one step's input
            change_keys();
            all += client.take();
        }
        rude_client::give(server, all);
        CHECK(server.failure() == "much was sent that says nothing");
        CHECK(take_output(server).size() < 40 * 27);  // what it answered
    }
    SECTION("now and then is nothing bad") {
        const std::string much(16 * 1024, 'x');
        const int borne = client.repeat(server, 100, [&] {
            change_keys();
            for (int i = 0; i < 4; ++i) SSL_write(client.ssl(), much.data(), static_cast<int>(much.size()));
        });
        CHECK(borne == 100);
    }
}

TEST_CASE("what waits to be sent is bounded") {
    tls_session server{made(serving())};
    rude_client client{TLS1_3_VERSION};
    client.shake_hands(server);
    const std::string record(tls_session::record_bytes_max, 'x');
    int written = 0;
    while (written < 100 && server.write(net::buffer(record)) == tls_step::done) ++written;
    CHECK(written == 16);
    CHECK(server.failure() == "the peer does not read what it asks for");
}

TEST_CASE("nothing is negotiated a second time") {
    tls_session server{made(serving())};
    rude_client client{TLS1_2_VERSION};
    client.shake_hands(server);
    SSL_renegotiate(client.ssl());
    CHECK(SSL_do_handshake(client.ssl()) != 1);
    rude_client::give(server, client.take());
    client.take_answer(server);
    CHECK(SSL_do_handshake(client.ssl()) != 1);
    CHECK(take_openssl_error() == "no renegotiation");
}

TEST_CASE("a handshake that never ends is cut off by its size") {
    tls_session server{made(serving())};
    CHECK(server.handshake() == tls_step::wants_input);
    // A ClientHello of almost 2^24 bytes in records of 16 KiB. Source: RFC 8446, sections 4 and 5.1.
    std::string record{"\x16\x03\x01\x40\x00", 5};
    std::string first = record + std::string{"\x01\xff\xff\xff", 4} + std::string(16384 - 4, 'x');
    std::size_t taken = 0;
    for (std::string next = first; server.failure().empty() && taken < (1 << 24);
         next = record + std::string(16384, 'x')) {
        std::string_view rest = next;
        while (!rest.empty() && server.failure().empty()) {
            const std::size_t before = rest.size();
            give_input(server, rest);
            taken += before - rest.size();
            static_cast<void>(server.handshake());
        }
    }
    CHECK(taken < 256 * 1024);
    CHECK_FALSE(server.failure().empty());
}

TEST_CASE("a server's session that waits holds no buffers") {
    const auto serves = made(serving());
    std::list<tls_session> open;
    constexpr std::size_t count = 100;
    const auto bytes_of_each = [&](auto open_one) {
        open_one();
        const std::size_t before = ::mallinfo2().uordblks;
        for (std::size_t i = 0; i < count; ++i) open_one();
        return (::mallinfo2().uordblks - before) / count;
    };
    const std::size_t fresh = bytes_of_each([&] { open.emplace_back(serves); });
    const std::size_t resting = bytes_of_each([&] {
        tls_session& server = open.emplace_back(serves);
        rude_client client{TLS1_3_VERSION};
        client.shake_hands(server);
        server.rest();
    });
    CAPTURE(fresh, resting);  // 9 and 15 KiB with OpenSSL 3.0, 16 and 29 with 3.5
    if (!sanitized) CHECK(resting < fresh + tls_session::record_bytes_max);
}

TEST_CASE("a stream that waits for its peer gives its buffers back") {
    tls_streams at;
    int ended = 0;
    const auto run_until = [&](int count) {
        at.io.restart();
        while (ended < count && at.io.run_one_for(10s) != 0) continue;
        REQUIRE(ended == count);
        ended = 0;
    };
    const auto count = [&](error_code error, auto...) { ended += error ? 0 : 1; };
    at.client.async_handshake(count);
    at.server.async_handshake(count);
    run_until(2);
    std::array<char, 16> room;
    at.client.async_write_some(net::buffer("said", 4), count);
    at.server.async_read_some(net::buffer(room), count);
    run_until(2);
    const std::size_t before = ::mallinfo2().uordblks;
    at.server.async_read_some(net::buffer(room), [](error_code, std::size_t) {});
    const std::size_t after = ::mallinfo2().uordblks;
    if (!sanitized) CHECK(before > after + tls_session::record_bytes_max);
    at.server.close();
    at.io.restart();
    at.io.poll();
}

}  // namespace
}  // namespace seriesgate::testing::tls_bounds_test
