#include "net/tls_session.hpp"

#include <openssl/ssl.h>

#include "net/openssl.hpp"
#include "net/tls_pair.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::tls_session_test {
namespace {

/// An authority, and who it vouches for.
struct world {
    certificate authority = make_certificate({.common_name = "Authority", .authority = true});
    certificate server = vouched({.common_name = "x", .names = "DNS:store.test,IP:127.0.0.1,IP:::1"});
    certificate client = vouched({.common_name = "sender"});

    [[nodiscard]] certificate vouched(certificate_wish wish) const {
        wish.issuer = &authority;
        return make_certificate(wish);
    }
    [[nodiscard]] tls_settings serving() const {
        return {.role = tls_role::server, .certificates = server.chain, .key = server.key};
    }
    [[nodiscard]] tls_settings serving(client_certificates clients) const {
        auto settings = serving();
        settings.authorities = authority.chain;
        settings.clients = clients;
        return settings;
    }
    [[nodiscard]] tls_settings asking() const { return {.role = tls_role::client, .authorities = authority.chain}; }
    [[nodiscard]] tls_settings asking(const certificate& as) const {
        auto settings = asking();
        settings.certificates = as.chain;
        settings.key = as.key;
        return settings;
    }
};

std::string_view protocol_of(const tls_session& session) {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session.native(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

bool is_resumed(const tls_session& session) {
    return SSL_session_reused(session.native()) != 0;
}

const world& known() {
    static const world made;
    return made;
}

/// How a handshake ended.
struct ending {
    bool established;
    std::string client;  ///< why not, as each side has it
    std::string server;
    std::string identity;
};

ending shake(const tls_settings& asking, const tls_settings& serving, const std::string& name = "store.test") {
    tls_pair pair{made(asking), made(serving), name};
    pair.shake_hands();
    return {pair.is_established() && pair.client.failure().empty() && pair.server.failure().empty(),
            pair.client.failure(), pair.server.failure(),
            pair.server.is_established() ? pair.server.peer_identity() : std::string{}};
}

tls_settings only(tls_settings settings, tls_version version) {
    settings.oldest = settings.newest = version;
    return settings;
}

std::string fault(const tls_settings& settings) {
    const auto context = make_tls_context(settings);
    REQUIRE(context.has_error());
    return context.error();
}

TEST_CASE("a server is who it proves to be, by name or by address") {
    const auto named = [](const std::string& name) { return shake(known().asking(), known().serving(), name); };
    for (const char* const name : {"store.test", "127.0.0.1", "::1", "STORE.test"}) CHECK(named(name).established);
    CHECK(named("other.test").client == "hostname mismatch");
    CHECK(named("x").client == "hostname mismatch");  // a common name is no proof, as Go has it
    CHECK(named("127.0.0.2").client == "IP address mismatch");
    CHECK(named("other.test").server == "told by the peer: bad certificate");
}

TEST_CASE("a server's certificate has to be in force, and an authority's that we know") {
    const auto with = [](const certificate& shown) {
        auto serving = known().serving();
        serving.certificates = shown.chain;
        serving.key = shown.key;
        return shake(known().asking(), serving);
    };
    const std::string names = "DNS:store.test";
    CHECK(with(known().vouched({.names = names})).established);
    const ending expired = with(known().vouched({.names = names, .lifetime = -1h}));
    CHECK(expired.client == "certificate has expired");
    CHECK(expired.server == "told by the peer: certificate expired");
    CHECK(with(make_certificate({.names = names})).client == "self-signed certificate");
    const certificate another = make_certificate({.common_name = "Another", .authority = true});
    const ending unknown = with(make_certificate({.names = names, .issuer = &another}));
    CHECK(unknown.client == "unable to get local issuer certificate");
    CHECK(unknown.server == "told by the peer: unknown CA");
}

TEST_CASE("a server asks its clients for certificates as Go's does") {
    const certificate stranger = make_certificate({.common_name = "stranger"});
    const certificate expired = known().vouched({.common_name = "late", .lifetime = -1h});
    using policy = client_certificates;
    struct row {
        policy clients;
        bool without, verified, unknown, late;
    };
    for (const auto version : {tls_version::v1_2, tls_version::v1_3}) {
        for (const row& each :
             {row{policy::none, true, true, true, true}, row{policy::request, true, true, true, true},
              row{policy::require_any, false, true, true, true}, row{policy::verify_if_given, true, true, false, false},
              row{policy::require_and_verify, false, true, false, false}}) {
            CAPTURE(static_cast<int>(each.clients), static_cast<int>(version));
            const auto serving = only(known().serving(each.clients), version);
            CHECK(shake(known().asking(), serving).established == each.without);
            CHECK(shake(known().asking(known().client), serving).established == each.verified);
            CHECK(shake(known().asking(stranger), serving).established == each.unknown);
            CHECK(shake(known().asking(expired), serving).established == each.late);
        }
    }
    const auto serving = known().serving(policy::require_and_verify);
    CHECK(shake(known().asking(), serving).server == "no client certificate");
    CHECK(shake(known().asking(), serving).client == "told by the peer: certificate required");
    CHECK(shake(known().asking(stranger), serving).server == "self-signed certificate");
    CHECK(shake(known().asking(expired), serving).server == "certificate has expired");
}

TEST_CASE("only a verified certificate tells who a client is, by its first name") {
    const auto identity = [](const certificate_wish& wish, client_certificates clients) {
        return shake(known().asking(known().vouched(wish)), known().serving(clients)).identity;
    };
    const auto verified = [&](const std::string& names) {
        return identity({.common_name = "cn", .names = names}, client_certificates::require_and_verify);
    };
    CHECK(verified("") == "cn");
    CHECK(verified("email:a@b.test") == "a@b.test");
    CHECK(verified("email:a@b.test,URI:spiffe://x/y") == "spiffe://x/y");
    CHECK(verified("URI:spiffe://x/y,DNS:first.test,DNS:second.test") == "first.test");
    CHECK(verified("IP:127.0.0.1") == "cn");
    CHECK(identity({.common_name = "cn"}, client_certificates::verify_if_given) == "cn");
    CHECK(identity({.common_name = "cn"}, client_certificates::require_any).empty());
    CHECK(identity({.common_name = "cn"}, client_certificates::request).empty());
    CHECK(identity({.common_name = "two\nlines"}, client_certificates::require_and_verify).empty());
    CHECK(shake(known().asking(), known().serving(client_certificates::verify_if_given)).identity.empty());
}

TEST_CASE("of a client's names one has to be allowed") {
    const auto with = [](const std::string& names, std::vector<std::string> allowed) {
        auto serving = known().serving(client_certificates::require_and_verify);
        serving.client_names = std::move(allowed);
        return shake(known().asking(known().vouched({.common_name = "cn", .names = names})), serving);
    };
    CHECK(with("DNS:a.test,DNS:b.test", {"b.test"}).established);
    CHECK(with("URI:spiffe://x/y", {"b.test", "spiffe://x/y"}).established);
    CHECK(with("email:a@b.test", {"a@b.test"}).established);
    CHECK(with("IP:10.0.0.1", {"10.0.0.1"}).established);
    CHECK(with("IP:2001:db8::1", {"2001:db8::1"}).established);
    const ending other = with("DNS:a.test", {"b.test"});
    CHECK_FALSE(other.established);
    CHECK(other.server == "no allowed name in the client certificate");
    CHECK_FALSE(with("DNS:a.test", {"cn"}).established);  // subjectAltName only
    CHECK_FALSE(with("", {"cn"}).established);
    CHECK_FALSE(with("DNS:a.test", {"A.test"}).established);
}

TEST_CASE("both sides have to know a protocol version, a cipher suite and a curve") {
    const auto server = known().serving();
    const auto client = known().asking();
    for (const auto version : {tls_version::v1_2, tls_version::v1_3}) {
        tls_pair pair{made(only(client, version)), made(server)};
        pair.shake_hands();
        REQUIRE(pair.is_established());
        const int number = version == tls_version::v1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
        CHECK(SSL_version(pair.server.native()) == number);
        CHECK(SSL_version(pair.client.native()) == number);
        CHECK(protocol_of(pair.server) == "http/1.1");
    }
    CHECK(shake(only(client, tls_version::v1_2), only(server, tls_version::v1_3)).server ==
          "no common protocol version");
    CHECK(shake(only(client, tls_version::v1_3), only(server, tls_version::v1_2)).client ==
          "told by the peer: protocol version");

    auto suite = server;
    suite.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"};  // and none of TLS 1.3's: they are not chosen
    CHECK(shake(client, suite).established);
    suite.oldest = suite.newest = tls_version::v1_2;
    auto other_suite = only(client, tls_version::v1_2);
    other_suite.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
    CHECK(shake(other_suite, suite).server == "no common cipher suite");
    auto curve = server;
    curve.curves = {"CurveP384"};
    auto other_curve = client;
    other_curve.curves = {"X25519", "CurveP256"};
    CHECK_FALSE(shake(other_curve, curve).established);
    other_curve.curves = {"CurveP384"};
    CHECK(shake(other_curve, curve).established);
}

TEST_CASE("a list with suites of TLS 1.3 alone wants nothing older") {
    auto server = known().serving();
    server.cipher_suites = {"TLS_AES_256_GCM_SHA384"};
    CHECK(shake(known().asking(), server).established);
    CHECK(shake(only(known().asking(), tls_version::v1_2), server).server == "no common protocol version");
}

TEST_CASE("what is wrong with settings is said in words, and nothing of what they say") {
    const world& with = known();
    CHECK(fault({.role = tls_role::server}) == "certificate: no certificate in it");
    CHECK(fault({.role = tls_role::server, .certificates = "-----BEGIN CERTIFICATE-----\nAAAA\n"})
              .find("certificate: a certificate in it cannot be read: ") == 0);
    CHECK(fault({.role = tls_role::server, .certificates = with.server.chain}) == "key: no private key in it");
    CHECK(fault({.role = tls_role::client, .certificates = with.client.chain}) == "key: no private key in it");
    CHECK(fault({.role = tls_role::client, .key = with.client.key}) == "certificate: no certificate in it");
    CHECK(fault({.role = tls_role::server,
                 .certificates = with.server.chain,
                 .key = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"}) ==
          "key: it is encrypted, and nobody knows its password");
    CHECK(fault({.role = tls_role::server, .certificates = with.server.chain, .key = with.client.key}) ==
          "the key does not belong to the certificate");
    CHECK(fault({.authorities = "none"}) == "authorities: no certificate in it");
    auto serving = with.serving();
    serving.clients = client_certificates::require_and_verify;
    CHECK(fault(serving) == "client certificates are to be verified, but no authority is given");
    serving.clients = client_certificates::require_any;
    serving.client_names = {"a.test"};
    CHECK(fault(serving) == "names of clients are allowed, but no client certificate is verified");
    CHECK(fault({.oldest = tls_version::v1_3, .newest = tls_version::v1_2}) ==
          "the newest version is older than the oldest");
    CHECK(fault({.cipher_suites = {"RC4"}}) == "cipher suites: unknown name \"RC4\"");
    CHECK(fault({.curves = {"P-256"}}) == "curves: unknown name \"P-256\"");
}

TEST_CASE("a certificate that has expired is used, and known as such") {
    const certificate late = make_certificate({.common_name = "late", .lifetime = -1h});
    const auto context = made({.role = tls_role::server, .certificates = late.chain, .key = late.key});
    REQUIRE(not_after_of(*context).has_value());
    CHECK(*not_after_of(*context) < std::chrono::system_clock::now());
    CHECK(context->subject == "CN=late");
}

TEST_CASE("the authorities of a chain go with it") {
    const certificate between = known().vouched({.common_name = "Between", .authority = true});
    const certificate leaf = make_certificate({.names = "DNS:store.test", .issuer = &between});
    auto serving = known().serving();
    serving.certificates = leaf.chain;
    serving.key = leaf.key;
    CHECK(shake(known().asking(), serving).client == "unable to get local issuer certificate");
    serving.certificates += between.chain;
    CHECK(shake(known().asking(), serving).established);
    auto asking = known().asking();
    asking.authorities = between.chain;  // who is named is trusted, whoever else would vouch for it
    CHECK(shake(asking, serving).established);
}

TEST_CASE("who does not speak TLS is known by it") {
    const auto told = [](std::string_view bytes) {
        tls_session server{made(known().serving())};
        CHECK(server.handshake() == tls_step::wants_input);
        while (!bytes.empty() && server.failure().empty()) {
            give_input(server, bytes);
            static_cast<void>(server.handshake());
        }
        return server.failure();
    };
    CHECK(told("GET / HTTP/1.1\r\nHost: x\r\n\r\n") == "not TLS: looks like plain HTTP");
    CHECK(told("POST /api/v1/write HTTP/1.1\r\n") == "not TLS: looks like plain HTTP");
    CHECK(told("CONNECT x:1 HTTP/1.1\r\n\r\n") == "not TLS: looks like plain HTTP");
    CHECK(told("SSH-2.0-OpenSSH_9.2\r\n") == "not TLS");
    CHECK(told(std::string(100, '\0')) == "not TLS");
    tls_session client{made(known().asking()), "store.test"};
    CHECK(client.handshake() == tls_step::wants_input);
    std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    give_input(client, answer);
    CHECK(client.handshake() == tls_step::failed);
    CHECK(client.failure() == "not TLS");
}

TEST_CASE("a client resumes its session, and uses a ticket of TLS 1.3 once") {
    for (const auto version : {tls_version::v1_2, tls_version::v1_3}) {
        CAPTURE(static_cast<int>(version));
        const auto asks = made(only(known().asking(), version));
        const auto serves = made(known().serving());
        const auto resumes = [&](const std::string& name) {
            tls_pair pair{asks, serves, name};
            pair.shake_hands();
            REQUIRE(pair.is_established());
            CHECK(is_resumed(pair.client) == is_resumed(pair.server));
            return is_resumed(pair.client);
        };
        CHECK_FALSE(resumes("store.test"));
        for (int i = 0; i < 20; ++i) CHECK(resumes("store.test"));
        CHECK_FALSE(resumes("127.0.0.1"));  // another name to be proved
        CHECK(resumes("127.0.0.1"));
    }
}

TEST_CASE("sessions with a client's certificate are not resumed: each connection proves it") {
    for (const auto version : {tls_version::v1_2, tls_version::v1_3}) {
        const auto asks = made(only(known().asking(known().client), version));
        const auto serves = made(known().serving(client_certificates::require_and_verify));
        for (int i = 0; i < 3; ++i) {
            tls_pair pair{asks, serves};
            pair.shake_hands();
            REQUIRE(pair.is_established());
            CHECK_FALSE(is_resumed(pair.server));
            CHECK(pair.server.peer_identity() == "sender");
        }
    }
}

TEST_CASE("with another certificate a server does not know the tickets of before") {
    const auto asks = made(known().asking());
    for (int i = 0; i < 2; ++i) {
        tls_pair pair{asks, made(known().serving())};
        pair.shake_hands();
        REQUIRE(pair.is_established());
        CHECK_FALSE(is_resumed(pair.client));
    }
}

TEST_CASE("tickets of so many names are kept, and of no more") {
    tls_tickets kept;
    for (std::size_t i = 0; i <= tls_tickets::names_max; ++i)
        kept.give(std::to_string(i), ssl_session_ptr{SSL_SESSION_new()});
    CHECK(kept.take("0") != nullptr);
    CHECK(kept.take(std::to_string(tls_tickets::names_max)) == nullptr);
}

TEST_CASE("a session whose peer has said that nothing more comes is not as good as one with nothing to read") {
    tls_pair pair{made(known().asking()), made(known().serving())};
    pair.shake_hands();
    CHECK(pair.client.is_drained());
    pair.server.close();
    const std::string sent = take_output(pair.server);
    std::string_view rest = sent;
    give_input(pair.client, rest);
    CHECK_FALSE(pair.client.is_drained());
}

TEST_CASE("a session outlives everybody else who had its context") {
    auto context = made(known().serving());
    tls_pair pair{made(known().asking()), std::move(context)};
    pair.shake_hands();
    CHECK(pair.is_established());
}

TEST_CASE("a name that can be none is an error and no crash") {
    CHECK_THROWS_AS((tls_session{made(known().asking()), std::string(300, 'x')}), boost::system::system_error);
}

}  // namespace
}  // namespace seriesgate::testing::tls_session_test
