// The client with a real server that speaks TLS.

#include "net/certificate.hpp"
#include "redis/client_scene.hpp"
#include "redis/server_process.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// Longer than what is warned of.
constexpr std::chrono::hours lifetime{24 * 30};

/// An authority, a server and a client that it vouches for, and a client that it does not.
struct certificate_files {
    scratch_directory folder;

    certificate_files() {
        const certificate authority = make_certificate({.common_name = "authority", .authority = true});
        write_file(folder / "ca.pem", authority.chain);
        write("server", make_certificate({.common_name = "server",
                                          .names = "DNS:store.test,IP:127.0.0.1",
                                          .lifetime = lifetime,
                                          .issuer = &authority}));
        write("client", make_certificate({.common_name = "gate", .lifetime = lifetime, .issuer = &authority}));
        write("stranger", make_certificate({.common_name = "gate", .lifetime = lifetime}));
    }
    [[nodiscard]] std::string path(const std::string& name) const { return (folder / name.c_str()).string(); }
    void write(const std::string& name, const certificate& made) const {
        write_file(path(name + ".pem"), made.chain);
        write_file(path(name + ".key"), made.key);
    }
    [[nodiscard]] std::vector<std::string> for_server() const {
        return {"--tls-cert-file",    path("server.pem"), "--tls-key-file",     path("server.key"),
                "--tls-ca-cert-file", path("ca.pem"),     "--tls-auth-clients", "yes"};
    }
};

}  // namespace

TEST_CASE("TLS proves who the server is, and who we are") {
    const certificate_files files;
    const server_process server{server_wish{.arguments = files.for_server(), .port_option = "--tls-port"}};
    redis_config config = server.at_port();
    config.tls = true;
    config.tls_files = {.ca_file = files.path("ca.pem"),
                        .cert_file = files.path("client.pem"),
                        .key_file = files.path("client.key"),
                        .server_name = "store.test"};
    const std::string at = "127.0.0.1:" + std::to_string(server.port());

    SECTION("by its name, or by its address") {
        config.tls_files.server_name = GENERATE(as<std::string>{}, "store.test", "");
        client_scene with{config};
        CHECK(with.say({"SET", "key", std::string(100000, 'x')}) == "OK");
        CHECK(with.say({"GET", "key"}) == std::string(100000, 'x'));
        std::vector<std::optional<redis_answer>> got(100);
        for (std::size_t i = 0; i < got.size(); ++i) with.begin({"ECHO", std::to_string(i)}, got[i]);
        CHECK(shown(with.await(got.back())) == "99");
        CHECK(with.client.connection_epoch() == 1);
    }
    SECTION("not with another name") {
        config.tls_files.server_name = "other.test";
        client_scene with{config};
        const std::string said = with.say({"PING"});
        CHECK(said.starts_with("unreachable: TLS with " + at + ": "));
        CHECK(said.find("hostname mismatch") != std::string::npos);
    }
    SECTION("not without its authority") {
        config.tls_files.ca_file = files.path("stranger.pem");
        client_scene with{config};
        CHECK(with.say({"PING"}).starts_with("unreachable: TLS with " + at + ": "));
    }
    SECTION("not without a certificate of ours, or with a stranger's") {
        const bool has_any = GENERATE(true, false);
        config.tls_files.cert_file = has_any ? files.path("stranger.pem") : "";
        config.tls_files.key_file = has_any ? files.path("stranger.key") : "";
        client_scene with{config};
        CHECK(with.say({"PING"}) == std::string{"unreachable: INFO: TLS: told by the peer: "}.append(
                                        has_any ? "unknown CA" : "certificate required"));
    }
    SECTION("not without TLS") {
        config.tls = false;
        client_scene with{config};
        CHECK(with.say({"PING"}).starts_with("unreachable: "));
    }
    SECTION("a client's certificate is taken anew when it has changed") {
        files.write("new", make_certificate({.common_name = "gate", .lifetime = lifetime}));
        config.tls_files.cert_file = files.path("new.pem");
        config.tls_files.key_file = files.path("new.key");
        client_scene with{config};
        REQUIRE(with.say({"PING"}).starts_with("unreachable: "));
        write_file(files.path("new.pem"), read_file(files.path("client.pem")));
        write_file(files.path("new.key"), read_file(files.path("client.key")));
        with.let_files_settle();
        CHECK(with.say_until_answered({"PING"}) == "PONG");
    }
}

TEST_CASE("TLS files that are no good are told at the start") {
    redis_config config;
    config.tls = true;
    config.tls_files.ca_file = "/nowhere/ca.pem";
    CHECK_THROWS_WITH(redis_shared{config}, "shared.tls: cannot read /nowhere/ca.pem: No such file or directory");
}
