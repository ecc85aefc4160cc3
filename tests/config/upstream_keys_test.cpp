#include "config/keys.hpp"

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::upstream_keys_test {
namespace {

/// Of a text below `upstream`, each without the file and the line.
lines upstream_errors(const std::string& keys, const overrides& flags = {}) {
    lines told;
    for (const std::string& line : errors_of("upstream: {" + keys + "}\n", flags))
        told.push_back(line.substr(line.find(": ") + 2));
    return told;
}

/// Checks that this is the only error: of a key below `upstream`.
void check_upstream(const std::string& keys, const std::string& expected, const overrides& flags = {}) {
    check_error("upstream: {" + keys + "}", "upstream." + expected, 1, flags);
}

upstream_config upstream_of(const std::string& keys, const overrides& flags = {}) {
    return loaded("upstream: {" + keys + "}\n", flags).upstream;
}

lines warnings_of(const std::string& text) {
    return texts_of(load_config_text(text, "c.yaml", {}).warnings);
}

const std::string url = "url: 'http://a/w', ";

TEST_CASE("a store has several backends") {
    const auto upstream = upstream_of("urls: ['http://a/w', 'https://b:8443/v?token=x']");
    REQUIRE(upstream.store.backends.size() == 2);
    CHECK(upstream.store.backends[0].authority == "a");
    CHECK(upstream.store.backends[1].authority == "b:8443");
    CHECK(upstream.store.backends[1].tls);
    CHECK(upstream.store.backends[1].target == "/v?token=x");
    CHECK(upstream_of("urls: ['http://a/w']") == upstream_of("url: 'http://a/w'"));
    CHECK(upstream_of("urls: [], url: 'http://a/w'").store.backends.size() == 1);
}

TEST_CASE("backends that cannot be are told") {
    const std::string required =
        "upstream.url: is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only "
        "count";
    CHECK(upstream_errors("urls: []") == lines{required});
    check_upstream("urls: ['http://a/w', 'http://A:80/w']", "urls[1]: is there already, as upstream.urls[0]");
    CHECK(upstream_errors("urls: ['http://a/w', 'http://a/v', 'https://a/w', 'http://a:81/w']").empty());
    check_upstream("urls: ['discard:']", "urls[0]: is no store, and stands alone: as upstream.url");
    check_upstream(url + "urls: ['http://b/w']", "urls: stands beside 'url': one of the two says where the store is");
    CHECK(upstream_errors("url: 'discard:', urls: ['http://b/w']").size() == 1);
    check_upstream("urls: [x]", "urls[0]: is not a URL such as http://127.0.0.1:8428/api/v1/write");
    CHECK(upstream_errors("urls: ['http://me:secret@a/w']").at(0).find("secret") == std::string::npos);
}

TEST_CASE("a URL as a flag replaces all backends of the file") {
    const auto upstream =
        upstream_of("urls: ['http://a/w', 'http://b/w'], bearerTokenFile: /t", {{"upstream.url", "http://c/w"}});
    REQUIRE(upstream.store.backends.size() == 1);
    CHECK(upstream.store.backends[0].host == "c");
    CHECK(upstream.store.bearer_token_file == "/t");
}

TEST_CASE("any backend that is the gate itself is told") {
    const std::string own = "is the address of 'listen': the gate would send to itself; the store listens elsewhere";
    check_upstream("urls: ['http://a/w', 'http://localhost:9201/w']", "urls[1]: " + own);
    check_upstream(url + "replicateTo: [{url: 'http://localhost:9201/w'}]", "replicateTo[0].url: " + own);
    check_upstream(url + "replicateTo: [{urls: ['http://b/w', 'http://localhost:9201/w']}]",
                   "replicateTo[0].urls[1]: " + own);
    CHECK(warnings_of("upstream: {urls: ['http://a/w', 'http://[::1]:9201/w']}\n") ==
          lines{"c.yaml:1: warning: upstream.urls[1]: is another address of this machine with the port of 'listen': if "
                "no store listens there, it is wrong"});
}

TEST_CASE("how a store proves who it is, and we to it") {
    const auto store =
        upstream_of("url: 'https://a/w', tls: {caFile: /ca, certFile: /c, keyFile: /k, serverName: b.test}").store;
    CHECK(store.tls == store_tls_config{"/ca", "/c", "/k", "b.test"});
    CHECK(upstream_of("url: 'https://a/w', tls: {serverName: '::1'}").store.tls.server_name == "::1");
    CHECK(upstream_of("url: 'https://a/w', tls: {serverName: 10.0.0.1}").store.tls.server_name == "10.0.0.1");
    check_upstream("url: 'https://a/w', tls: {serverName: 'https://b'}",
                   "tls.serverName: 'https://b' is not the name of a host");
    check_upstream("url: 'https://a/w', tls: {certFile: /c}", "tls.keyFile: is required beside certFile");
    check_upstream("url: 'https://a/w', tls: {keyFile: /c}", "tls.certFile: is required beside keyFile");
}

TEST_CASE("keys of TLS where nothing is https are doubtful") {
    const std::string why = "is not used: no URL of the store has https://";
    CHECK(warnings_of("upstream: {" + url + "tls: {caFile: /ca}}\n") ==
          lines{"c.yaml:1: warning: upstream.tls: " + why});
    CHECK(warnings_of("upstream: {" + url + "replicateTo: [{url: 'http://b/w', tls: {caFile: /ca}}]}\n") ==
          lines{"c.yaml:1: warning: upstream.replicateTo[0].tls: " + why});
    CHECK(warnings_of("upstream: {urls: ['http://a/w', 'https://b/w'], tls: {caFile: /ca}}\n").empty());
    CHECK(warnings_of("upstream: {url: 'discard:', replicateTo: [{url: 'http://b/w'}]}\n") ==
          lines{"c.yaml:1: warning: upstream.replicateTo: is not used: with 'discard:' nothing is forwarded"});
}

TEST_CASE("a request has one Authorization header") {
    const std::string basic = "basicAuth: {username: me, passwordFile: /p}";
    CHECK(upstream_of(url + basic).store.basic_auth == basic_auth_config{"me", "/p"});
    CHECK(upstream_of(url + "bearerTokenFile: /t").store.bearer_token_file == "/t");
    const auto beside = [](const std::string& key, const std::string& other) {
        return lines{"upstream." + key + ": stands beside '" + other + "': a request has one Authorization header"};
    };
    CHECK(upstream_errors(url + basic + ", bearerTokenFile: /t") == beside("bearerTokenFile", "basicAuth"));
    CHECK(upstream_errors(url + basic + ", headers: {authorization: x}") ==
          beside("headers.authorization", "basicAuth"));
    CHECK(upstream_errors(url + "bearerTokenFile: /t, headers: {Authorization: x}") ==
          beside("headers.Authorization", "bearerTokenFile"));
    check_upstream(url + "basicAuth: {username: me}",
                   "basicAuth.passwordFile: is required: the password stands in a file of its own");
    check_upstream(url + "basicAuth: {passwordFile: /p}", "basicAuth.username: is required beside passwordFile");
    CHECK(upstream_errors(url + "basicAuth: {username: 'a:b', passwordFile: /p}").at(0) ==
          "upstream.basicAuth.username: must not hold a ':': with basic authentication a name ends there");
}

TEST_CASE("headers of our own are those that may be set") {
    const auto headers = upstream_of(url + "headers: {X-Store: 'a b', X-Scope-OrgID: t}").store.headers;
    CHECK(headers.size() == 2);
    CHECK(headers.at("X-Scope-OrgID").reveal() == "t");
    const std::string made = "is made by the gate or by the sender, and cannot be set";
    for (const std::string name :
         {"Connection", "content-type", "Content-Whatever", "TE", "Expect", "Via", "Keep-Alive", "Transfer-Encoding",
          "Accept-Encoding", "X-Prometheus-Remote-Write-Version"})
        check_upstream(url + "headers: {" + name + ": x}", "headers." + name + ": " + made);
    check_upstream(url + "headers: {host: x}", "headers.host: is made by the gate, see upstream.hostHeader");
    check_upstream(url + "headers: {'a b': x}", "headers.a b: is not the name of an HTTP header");
    check_upstream(url + "headers: {X-A: x, x-a: y}", "headers.x-a: is there already, as 'X-A'");
}

TEST_CASE("what is wrong with a secret is told without it") {
    for (const std::string keys :
         {"headers: {X-A: \"hunter2\\r\\nB: c\"}", "headers: {X-A: 'hunter2 '}", "headers: 'X-A: hunter2'",
          "headers: [hunter2]", "headers: {X-A: [hunter2]}", "basicAuth: 'me:hunter2'",
          "basicAuth: {password: hunter2}", "replicateTo: [{url: 'http://b/w', basicAuth: 'me:hunter2'}]",
          "replicateTo: [{url: 'http://b/w', headers: 'A: hunter2'}]"}) {
        CAPTURE(keys);
        const auto told = upstream_errors(url + keys);
        REQUIRE(told.size() == 1);
        CHECK(told[0].find("hunter2") == std::string::npos);
    }
}

TEST_CASE("further stores have keys of their own") {
    const auto upstream = upstream_of(
        "url: 'http://a/w', bearerTokenFile: /t, replicateTo: [{url: 'https://b/w', bestEffort: true, headers: {X-A: "
        "b}, tls: {caFile: /ca}, basicAuth: {username: me, passwordFile: /p}}, {urls: ['http://c/w', 'http://d/w']}]");
    REQUIRE(upstream.replicas.size() == 2);
    CHECK(upstream.replicas[0].best_effort);
    CHECK(upstream.replicas[0].store.backends.at(0).host == "b");
    CHECK(upstream.replicas[0].store.bearer_token_file.empty());
    CHECK(upstream.replicas[0].store.basic_auth.username == "me");
    CHECK(upstream.replicas[0].store.tls.ca_file == "/ca");
    CHECK(upstream.replicas[0].store.headers.at("X-A").reveal() == "b");
    CHECK(upstream.replicas[1].store.backends.size() == 2);
    CHECK_FALSE(upstream.replicas[1].best_effort);
}

TEST_CASE("further stores that cannot be are told") {
    const auto check = [](const std::string& replicas, const std::string& told) {
        check_upstream(url + "replicateTo: " + replicas, "replicateTo" + told);
    };
    check("[{bestEffort: true}]", "[0].url: is required, or 'urls'");
    check("[{url: x}]", "[0].url: is not a URL such as http://127.0.0.1:8428/api/v1/write");
    check("[{url: 'http://b/w', urls: ['http://c/w']}]",
          "[0].urls: stands beside 'url': one of the two says where the store is");
    check("[{url: 'http://b/w', timeout: 5s}]", "[0].timeout: unknown key");
    check("[{url: 'http://b/w', bestEffort: maybe}]", "[0].bestEffort: 'maybe' is neither true nor false");
    check("[{url: 'http://A:80/w'}]", "[0]: is a store that gets the same already, as upstream");
    check("[{url: 'http://b/w'}, {urls: ['http://c/w', 'http://b/w']}]",
          "[1]: is a store that gets the same already, as upstream.replicateTo[0]");
    CHECK(upstream_errors(url + "replicateTo: [{url: 'http://a/w', headers: {X-Scope-OrgID: other}}]").empty());
    SECTION("by what a flag says in place of the file, too") {
        const std::string replica = "replicateTo: [{url: 'http://b/w'}]";
        check_upstream(url + replica, "replicateTo[0]: is a store that gets the same already, as upstream",
                       {{"upstream.url", "http://b/w"}});
        CHECK(upstream_errors("url: 'http://b/w', " + replica, {{"upstream.url", "http://a/w"}}).empty());
    }
}

TEST_CASE("keys in the spelling of other programs are answered with ours") {
    check_upstream(url + "tls: {ca_file: /ca}", "tls.ca_file: unknown key, did you mean 'caFile'?");
    check_upstream(url + "basic_auth: {}", "basic_auth: unknown key, did you mean 'upstream.basicAuth'?");
    check_upstream(url + "tls: {insecure_skip_verify: true}", "tls.insecure_skip_verify: unknown key");
}

TEST_CASE("what headers say is not shown") {
    const std::string text = effective_yaml(
        loaded("upstream: {urls: ['http://a/w?k=hunter2', 'http://b/w'], headers: {X-A: hunter2, X-B: ''},\n"
               "  replicateTo: [{url: 'http://c/w?k=hunter2', headers: {X-A: hunter2}}]}\n",
               {}));
    CHECK(text.find("hunter2") == std::string::npos);
    CHECK(text.find("\n  urls: ['http://a/w?<secret>', http://b/w]\n") != std::string::npos);
    CHECK(text.find("\n  headers: {X-A: '<secret>', X-B: ''}\n") != std::string::npos);
    CHECK(text.find("upstream:\n  urls:") != std::string::npos);
    const auto with_header = [](const std::string& value) {
        return loaded("upstream: {url: 'http://a/w', headers: {X-A: " + value + "}}\n", {});
    };
    CHECK(changes(with_header("one"), with_header("two"), key_effect::at_restart) == lines{"upstream.headers"});
}

}  // namespace
}  // namespace seriesgate::testing::upstream_keys_test
