
#include "config/load.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::load_web_test {
namespace {

using lines = std::vector<std::string>;

constexpr std::string_view hash = "$2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze";

lines errors_of(const std::string& text) {
    lines result;
    for (const config_error& error : load_web_config_text(text, "/etc/sg/web.yml").errors)
        result.push_back(error.text());
    return result;
}

web_config loaded(const std::string& text) {
    const web_outcome outcome = load_web_config_text(text, "/etc/sg/web.yml");
    for (const config_error& error : outcome.errors) FAIL_CHECK(error.text());
    return outcome.value;
}

std::string tls(const std::string& more) {
    return "tls_server_config: {cert_file: c, key_file: k" + more + "}\n";
}

/// Checks that this is all that is wrong with a file of that line.
void check_web(const std::string& line, const std::string& expected) {
    CAPTURE(line);
    CHECK(errors_of(line + "\n") == lines{"/etc/sg/web.yml:1: " + expected});
}

void check_web_tls(const std::string& more, const std::string& expected) {
    check_web("tls_server_config: {cert_file: c, key_file: k" + more + "}", "tls_server_config." + expected);
}

TEST_CASE("an empty web configuration asks nothing of anyone") {
    CHECK(loaded("{}\n") == web_config{});
    CHECK(loaded("tls_server_config:\nbasic_auth_users:\n") == web_config{});
    CHECK_FALSE(web_config{}.has_users());
}

TEST_CASE("names of who may come in that are left away let nobody in") {
    check_web("ingestion_users:", "ingestion_users: has no value: [] is nobody, and without the key it is everyone");
    check_web("admin_users: # [prometheus]",
              "admin_users: has no value: [] is nobody, and without the key it is everyone");
    check_web("tenants: # {prometheus: shop}", "tenants: has no value: {} binds no user");
    check_web_tls(", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca, client_allowed_sans: []",
                  "client_allowed_sans: is empty: no client would have one of the names");
}

TEST_CASE("Prometheus' own example of a web configuration is read") {
    const web_config read = loaded(
        "# TLS and basic authentication configuration example.\n"
        "tls_server_config:\n"
        "  cert_file: server.crt\n"
        "  key_file: server.key\n"
        "basic_auth_users:\n"
        "  alice: $2y$10$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze\n"
        "  bob: $2y$10$hLqFl9jSjoAAy95Z/zw8Ye8wkdMBM8c5Bn1ptYqP/AXyV0.oy0S8m\n");
    CHECK(read.tls->cert_file == "/etc/sg/server.crt");
    CHECK(read.tls->key_file == "/etc/sg/server.key");
    CHECK(read.tls->client_auth == client_certificates::none);
    CHECK(read.tls->version_min == tls_version::v1_2);
    CHECK(read.basic_auth_users.size() == 2);
    CHECK(read.basic_auth_users.at("alice").reveal() == hash);
    CHECK(read.has_users());
}

TEST_CASE("every key of TLS is read") {
    const web_config read = loaded(
        "tls_server_config:\n"
        "  cert_file: /a/server.crt\n"
        "  key_file: sub/server.key\n"
        "  client_auth_type: RequireAndVerifyClientCert\n"
        "  client_ca_file: ca.pem\n"
        "  client_allowed_sans: [a.test, 10.0.0.1]\n"
        "  min_version: TLS13\n"
        "  max_version: TLS13\n"
        "  cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256, "
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]\n"
        "  prefer_server_cipher_suites: false\n"
        "  curve_preferences: [X25519, CurveP256]\n"
        "http_server_config:\n"
        "  http2: true\n");
    web_tls_config expected;
    expected.cert_file = "/a/server.crt";
    expected.key_file = "/etc/sg/sub/server.key";
    expected.client_auth = client_certificates::require_and_verify;
    expected.client_ca_file = "/etc/sg/ca.pem";
    expected.client_allowed_sans = {"a.test", "10.0.0.1"};
    expected.version_min = tls_version::v1_3;
    expected.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                              "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"};
    expected.curves = {"X25519", "CurveP256"};
    expected.server_preference = false;
    CHECK(*read.tls == expected);
    CHECK(read.tls->verifies_clients());
}

TEST_CASE("every key of users is read") {
    const web_config read = loaded(
        "basic_auth_users: {alice: $2b$04$mDwo.lAisC94iLAyP81MCesa29IzH37oigHC/42V2pdJlUprsJPze}\n"
        "bearer_tokens:\n"
        "  - {name: ci, token_file: ci.token}\n"
        "  - {name: ci, token_file: /run/next.token}\n"
        "ingestion_users: [ci]\n"
        "admin_users: []\n"
        "tenants: {ci: team-a}\n"
        "auth_excluded_paths: [/-/healthy]\n"
        "http_server_config: {headers: {X-Frame-Options: deny, Strict-Transport-Security: '', "
        "X-Content-Type-Options: nosniff}}\n");
    CHECK(read.bearer_tokens == std::vector<bearer_token>{{"ci", "/etc/sg/ci.token"}, {"ci", "/run/next.token"}});
    CHECK(*read.ingestion_users == user_names{"ci"});
    CHECK(read.admin_users->empty());
    CHECK(read.tenants.at("ci") == "team-a");
    CHECK(read.auth_excluded_paths.contains("/-/healthy"));
    CHECK(read.answer_headers == std::vector<std::pair<std::string, std::string>>{
                                     {"X-Frame-Options", "deny"}, {"X-Content-Type-Options", "nosniff"}});
}

TEST_CASE("what is wrong in a web configuration is told with its line and key") {
    const lines empty{"/etc/sg/web.yml: is empty: {} would say that nothing is asked of anyone"};
    const std::string no_user =
        "is no user: neither of basic_auth_users nor of bearer_tokens, and no client's certificate is verified";
    CHECK(errors_of("") == empty);
    CHECK(errors_of("# later\n") == empty);
    check_web("basic_auth_user: {}", "basic_auth_user: unknown key, did you mean 'basic_auth_users'?");
    check_web("rate_limit: {burst: 1}",
              "rate_limit: is not offered: a sender that is told to wait holds back more; server.maxConnections, "
              "server.maxConnectionsPerPeer and server.maxInflightBytes are the bounds here");
    check_web("tls_server_config: {cert_file: c}", "tls_server_config.key_file: is required");
    CHECK(errors_of("tls_server_config: {}\n") == lines{"/etc/sg/web.yml:1: tls_server_config.cert_file: is required",
                                                        "/etc/sg/web.yml:1: tls_server_config.key_file: is required"});
    check_web(
        "tls_server_config: {cert: x, key_file: k, cert_file: c}",
        "tls_server_config.cert: is not offered: write the PEM text to a file of its own, and its path as 'cert_file'");
    check_web_tls(", min_version: TLS11", "min_version: 'TLS11' is not offered: nothing older than TLS12 is safe");
    check_web_tls(", min_version: 1.2", "min_version: '1.2' is neither TLS12 nor TLS13");
    check_web_tls(", min_version: TLS13, max_version: TLS12", "max_version: is below min_version");
    check_web_tls(", client_auth_type: RequireAndVerify",
                  "client_auth_type: 'RequireAndVerify' is none of NoClientCert, RequestClientCert, "
                  "RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven and RequireAndVerifyClientCert");
    check_web_tls(", client_auth_type: RequireAndVerifyClientCert",
                  "client_ca_file: is required: client_auth_type asks for certificates that can be verified");
    check_web_tls(", client_ca_file: ca",
                  "client_ca_file: would verify nobody: client_auth_type has to be RequireAndVerifyClientCert (or "
                  "VerifyClientCertIfGiven)");
    check_web_tls(", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca, client_allowed_sans: [a]",
                  "client_allowed_sans: needs client_auth_type to be RequireAndVerifyClientCert");
    check_web_tls(", cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265]",
                  "cipher_suites[0]: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265' is not known, did you mean "
                  "'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'?");
    check_web_tls(", curve_preferences: [P521]",
                  "curve_preferences[0]: 'P521' is none of CurveP256, CurveP384, CurveP521 and X25519");
    check_web("http_server_config: {headers: {X-Frame-Options: allow}}",
              "http_server_config.headers.X-Frame-Options: 'allow' is not deny or sameorigin");
    check_web("http_server_config: {http2: 2}", "http_server_config.http2: '2' is neither true nor false");
    check_web("basic_auth_users: {'a:b': x}", "basic_auth_users.a:b: 'a:b' has a colon: no user can be called that");
    check_web("auth_excluded_paths: [healthy]", "auth_excluded_paths[0]: 'healthy' is not a path, such as /-/healthy");
    check_web("tenants: {bob: ''}", "tenants.bob: is empty, expected a tenant");
    CHECK(errors_of("tenants: {bob: team-b}\n") == lines{"/etc/sg/web.yml: tenants.bob: " + no_user});
    CHECK(errors_of("ingestion_users: [eve]\n") == lines{"/etc/sg/web.yml: ingestion_users.eve: " + no_user});
    CHECK(errors_of("admin_users: [eve]\n") == lines{"/etc/sg/web.yml: admin_users.eve: " + no_user});
    CHECK(errors_of("tls_server_config: {cert_file: c, key_file: k, client_auth_type: RequireAndVerifyClientCert, "
                    "client_ca_file: a}\nbearer_tokens: [{name: ci, token_file: t}]\ntenants: {node.test: team-a}\n") ==
          lines{"/etc/sg/web.yml: tenants.node.test: is no user: neither of basic_auth_users nor of bearer_tokens, and "
                "where there are users, the name in a client's certificate is none"});
    CHECK(errors_of(tls(", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca") +
                    "tenants: {node.test: team-a}\n") ==
          lines{"/etc/sg/web.yml: tenants: bind nobody: with VerifyClientCertIfGiven a sender without a certificate "
                "may name any tenant; ingestion_users has to say who may write, or client_auth_type to be "
                "RequireAndVerifyClientCert"});
    check_web("bearer_tokens: [{name: ci}]", "bearer_tokens[0].token_file: is required");
    CHECK(errors_of("bearer_tokens: [{name: '', token_file: ''}]\n") ==
          lines{"/etc/sg/web.yml:1: bearer_tokens[0].name: is empty, expected the name of a user",
                "/etc/sg/web.yml:1: bearer_tokens[0].token_file: is empty, expected a path"});
}

TEST_CASE("names of certificates are users where certificates are verified") {
    const web_config read = loaded(tls(", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca") +
                                   "tenants: {node-1.test: team-a}\nadmin_users: [ops.test]\n");
    CHECK(read.tenants.at("node-1.test") == "team-a");
    const web_config optional = loaded(tls(", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca") +
                                       "tenants: {node-1.test: team-a}\ningestion_users: [node-1.test]\n");
    CHECK(optional.ingestion_users->contains("node-1.test"));
    CHECK_FALSE(read.has_users());
}

TEST_CASE("a mistake in a secret is told without a word of it") {
    const std::string not_hash = "is not a bcrypt hash, as 'htpasswd -nBC 10 NAME' makes: $2y$10$ and 53 characters";
    const std::string rest{hash.substr(6)};
    check_web("basic_auth_users: {alice: hunter2}", "basic_auth_users.alice: " + not_hash);
    check_web("basic_auth_users: {alice: $2x$10" + rest + "}", "basic_auth_users.alice: " + not_hash);
    check_web("basic_auth_users: {alice: $2y$17" + rest + "}",
              "basic_auth_users.alice: has a cost of 17, which takes seconds for each password: at most 16");
    check_web("basic_auth_users: {alice: $2y$03" + rest + "}",
              "basic_auth_users.alice: is not a bcrypt hash: its cost is below 4");
    check_web("basic_auth_users: {alice: [hunter2]}", "basic_auth_users.alice: has no bcrypt hash");
    check_web("basic_auth_users: hunter2", "basic_auth_users: expected names with bcrypt hashes below it");
    check_web("basic_auth_users: [hunter2]", "basic_auth_users: expected names with bcrypt hashes below it");
    check_web("bearer_tokens: hunter2", "bearer_tokens: expected a list of name and token_file");
    check_web("bearer_tokens: [hunter2]", "bearer_tokens[0]: expected name and token_file below it");
    check_web(
        "bearer_tokens: [{name: ci, token: hunter2, token_file: f}]",
        "bearer_tokens[0].token: is not offered: write the token to a file of its own, and its path as 'token_file'");
    for (const char* text : {"basic_auth_users:\n  alice hunter2\n", "basic_auth_users:\n  alice: 'hunter2\n",
                             "basic_auth_users:\n  alice: [hunter2\n", "basic_auth_users:\n  alice: *hunter2\n",
                             "basic_auth_users:\n  alice:hunter2\n", "alice: {hunter2: }}\n", "alice: @hunter2\n"})
        for (const std::string& line : errors_of(text)) {
            CAPTURE(text, line);
            CHECK(line.find("hunter2") == std::string::npos);
        }
}

TEST_CASE("the web configuration file is read with the configuration") {
    const testing::scratch_directory folder;
    const std::string file = folder / "web.yml";
    testing::write_file(file, "tls_server_config: {cert_file: c.pem, key_file: k.pem}\n");
    const overrides flags{{"upstream.url", "discard:"}, {"web.config.file", file}};
    const load_outcome good = load_config(std::nullopt, flags);
    CHECK(good.ok());
    CHECK(good.value.web.tls->cert_file == (folder / "c.pem").string());

    testing::write_file(file, "tls: {}\n");
    const load_outcome bad = load_config(std::nullopt, flags);
    REQUIRE(bad.errors.size() == 1);
    CHECK(bad.errors[0].text() == file + ":1: tls: unknown key");

    const load_outcome none =
        load_config(std::nullopt, {{"upstream.url", "discard:"}, {"web.config.file", "/nowhere"}});
    REQUIRE(none.errors.size() == 1);
    CHECK(none.errors[0].text() == "/nowhere: cannot be read: No such file or directory");
}

}  // namespace
}  // namespace seriesgate::testing::load_web_test
