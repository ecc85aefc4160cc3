#include "config/loading.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {
namespace {

lines told(const std::string& keys) {
    return errors_of("warmStart: {" + keys + "}\n");
}

/// Checks that this is the only error: of a key below `warmStart`.
void check_warm_start(const std::string& keys, const std::string& expected) {
    check_error("warmStart: {" + keys + "}", "warmStart." + expected);
}

}  // namespace

TEST_CASE("warmStart.url is the root of a query API") {
    CHECK(told("url: ''").empty());
    for (const auto* const good : {"http://a", "http://a/", "https://a:1/select/0/prometheus", "http://[::1]:9090"}) {
        CAPTURE(good);
        CHECK(told("url: '" + std::string{good} + "'").empty());
    }
    check_warm_start("url: a", "url: is not a URL such as http://127.0.0.1:8428");
    check_warm_start(
        "url: 'http://a?b=c'",
        "url: must not hold a query ('?...'): it is the root of a query API, such as http://127.0.0.1:8428");
    CHECK(told("url: 'http://b:c@a'").size() == 1);
}

TEST_CASE("a place for the tenant in warmStart.url needs tenants") {
    CHECK(told("url: 'http://a/select/{tenant}/prometheus', tenants: ['1']").empty());
    check_warm_start("url: 'http://a/select/{tenant}/prometheus'",
                     "url: needs warmStart.tenants: the names to put in the place of the tenant");
    check_warm_start("url: 'http://a/select/{tenant}/prometheus', tenants: ['a b']",
                     "tenants[0]: 'a b' cannot stand in the URL: expected letters, digits, '-', '.', '_', '~' and ':'");
    check_warm_start("url: 'http://a/select/{account}/prometheus', tenants: ['7', '7:1', a]",
                     "tenants[2]: 'a' cannot stand in the URL: expected an account, 7 or 7:1");
    check_warm_start("url: 'http://a', tenants: ['']", "tenants[0]: is empty, expected the name of a tenant");
}

TEST_CASE("a fleet may have a warm start") {
    CHECK(
        errors_of("warmStart: {url: 'http://a'}\nshared: {url: 'redis://b'}\nfingerprint: {secretFile: /c}\n").empty());
}

TEST_CASE("the store of a warm start is checked like others") {
    CHECK(told("url: 'http://a', bearerTokenFile: /t, basicAuth: {username: u, passwordFile: /p}").size() == 1);
    check_warning("warmStart: {url: 'http://a', tls: {caFile: /ca.pem}}",
                  "warmStart.tls: is not used: no URL of the store has https://");
    CHECK(errors_of("listen: 127.0.0.1:9201\nwarmStart: {url: 'http://127.0.0.1:9201'}\n").size() == 1);
}

TEST_CASE("errors call the flag of a warm start by its name") {
    overrides flags = discard;
    flags.push_back({.key = "warmStart.url", .value = "a"});
    CHECK(errors_of("", flags) == lines{"--warm-from: is not a URL such as http://127.0.0.1:8428"});
    flags.back().value = "http://127.0.0.1:9201";
    const lines to_itself = errors_of("listen: 127.0.0.1:9201\n", flags);
    REQUIRE(to_itself.size() == 1);
    CHECK(to_itself[0].starts_with("--warm-from: "));
}

}  // namespace seriesgate::testing
