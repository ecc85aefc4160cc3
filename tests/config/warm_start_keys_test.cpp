#include "config/loading.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

lines told(const std::string& keys) {
    lines found;
    for (const config_error& each : load_config_text("warmStart: {" + keys + "}\n", "c.yaml", discard).errors)
        found.push_back(each.text());
    return found;
}

lines warned(const std::string& text) {
    lines found;
    for (const config_error& each : load_config_text(text, "c.yaml", discard).warnings) found.push_back(each.text());
    return found;
}

}  // namespace

TEST_CASE("warmStart.url is the root of a query API") {
    CHECK(told("url: ''").empty());
    for (const auto* const good : {"http://a", "http://a/", "https://a:1/select/0/prometheus", "http://[::1]:9090"}) {
        CAPTURE(good);
        CHECK(told("url: '" + std::string{good} + "'").empty());
    }
    CHECK(told("url: a") == lines{"c.yaml:1: warmStart.url: is not a URL such as http://127.0.0.1:8428"});
    CHECK(told("url: 'http://a?b=c'") ==
          lines{"c.yaml:1: warmStart.url: must not hold a query ('?...'): it is the root of a query API, such as "
                "http://127.0.0.1:8428"});
    CHECK(told("url: 'http://b:c@a'").size() == 1);
}

TEST_CASE("a place for the tenant in warmStart.url needs tenants") {
    CHECK(told("url: 'http://a/select/{tenant}/prometheus', tenants: ['1']").empty());
    CHECK(told("url: 'http://a/select/{tenant}/prometheus'") ==
          lines{"c.yaml:1: warmStart.url: needs warmStart.tenants: the names to put in the place of the tenant"});
    CHECK(told("url: 'http://a/select/{tenant}/prometheus', tenants: ['a b']") ==
          lines{"c.yaml:1: warmStart.tenants[0]: 'a b' cannot stand in the URL: expected letters, digits, '-', '.', "
                "'_', '~' and ':'"});
    CHECK(told("url: 'http://a/select/{account}/prometheus', tenants: ['7', '7:1', a]") ==
          lines{"c.yaml:1: warmStart.tenants[2]: 'a' cannot stand in the URL: expected an account, 7 or 7:1"});
    CHECK(told("url: 'http://a', tenants: ['']") ==
          lines{"c.yaml:1: warmStart.tenants[0]: is empty, expected the name of a tenant"});
}

TEST_CASE("a fleet may have a warm start") {
    const auto loaded = load_config_text(
        "warmStart: {url: 'http://a'}\nshared: {url: 'redis://b'}\nfingerprint: {secretFile: /c}\n", "c.yaml", discard);
    CHECK(loaded.errors.empty());
}

TEST_CASE("the store of a warm start is checked like others") {
    CHECK(told("url: 'http://a', bearerTokenFile: /t, basicAuth: {username: u, passwordFile: /p}").size() == 1);
    CHECK(warned("warmStart: {url: 'http://a', tls: {caFile: /ca.pem}}\n") ==
          lines{"c.yaml:1: warning: warmStart.tls: is not used: no URL of the store has https://"});
    CHECK(load_config_text("listen: 127.0.0.1:9201\nwarmStart: {url: 'http://127.0.0.1:9201'}\n", "c.yaml", discard)
              .errors.size() == 1);
}

TEST_CASE("errors call the flag of a warm start by its name") {
    overrides flags = discard;
    flags.push_back({.key = "warmStart.url", .value = "a"});
    const auto loaded = load_config_text("", "c.yaml", flags);
    REQUIRE(loaded.errors.size() == 1);
    CHECK(loaded.errors[0].text() == "--warm-from: is not a URL such as http://127.0.0.1:8428");
    flags.back().value = "http://127.0.0.1:9201";
    const auto to_itself = load_config_text("listen: 127.0.0.1:9201\n", "c.yaml", flags);
    REQUIRE(to_itself.errors.size() == 1);
    CHECK(to_itself.errors[0].text().starts_with("--warm-from: "));
}

}  // namespace seriesgate::testing
