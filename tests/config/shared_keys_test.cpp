#include "config/keys.hpp"

#include "config/effective.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::shared_keys_test {
namespace {

const std::string secret = "fingerprint: {secretFile: /secret}\n";
const std::string limit = "maxHourlySeries: 10\n";
const std::string url = "url: 'redis://valkey', ";

std::string in_section(const std::string& keys) {
    return secret + limit + "shared: {" + keys + "}\n";
}

shared_config shared_of(const std::string& keys) {
    return loaded(in_section(keys)).shared;
}

/// Without the file and the line.
lines errors_in(const std::string& text, const overrides& flags = discard) {
    lines told = errors_of(text, flags);
    for (std::string& line : told) line = line.substr(line.find(": ") + 2);
    return told;
}

lines shared_errors(const std::string& keys) {
    return errors_in(in_section(keys));
}

/// Checks that this is the only error: of a key below `shared`.
void check_shared(const std::string& keys, const std::string& expected) {
    CAPTURE(keys);
    CHECK(shared_errors(keys) == lines{"shared." + expected});
}

TEST_CASE("without a URL or a sentinel a gate counts alone") {
    const shared_config alone = loaded("").shared;
    CHECK(alone == shared_config{});
    CHECK_FALSE(alone.has_store());
    CHECK(alone.name_space == "default");
    CHECK(alone.store.timeout == 200ms);
    CHECK(alone.on_unavailable == unavailable_answer::local);
    CHECK_FALSE(shared_of("url: ''").has_store());
    CHECK(shared_of("url: redis://valkey").has_store());
    CHECK(shared_of("sentinel: {master: main, addresses: [a]}").has_store());
}

TEST_CASE("a fleet has tables, and does not limit active series") {
    constexpr auto fleet = "fingerprint: {secretFile: /s}\nshared: {url: redis://valkey}\n";
    CHECK(loaded(fleet).series_set == set_kind::exact);
    CHECK(loaded(std::string{fleet} + "seriesSet: exact\n").series_set == set_kind::exact);
    CHECK(errors_in(std::string{fleet} + "seriesSet: bloom\n") ==
          lines{"seriesSet: must be exact with shared: the series of a fleet are told to its store again when that "
                "loses data"});
    CHECK(errors_in(std::string{fleet} + "maxActiveSeries: 5\n") ==
          lines{"maxActiveSeries: is not possible with shared: a fleet does not count active series yet"});
}

TEST_CASE("every key of a fleet says what it says") {
    const shared_config read = shared_of(
        "url: 'rediss://valkey:7000/2', namespace: Shop_1.a-b, username: gate, passwordFile: /password, tls: {caFile: "
        "/ca, certFile: /c, keyFile: /k, serverName: b.test}, timeout: 1ms, onUnavailable: admit");
    CHECK(read.url == "rediss://valkey:7000/2");
    CHECK(read.name_space == "Shop_1.a-b");
    CHECK(read.on_unavailable == unavailable_answer::admit);
    redis_config store;
    store.host = "valkey";
    store.port = 7000;
    store.tls = true;
    store.database = 2;
    store.username = "gate";
    store.password_file = "/password";
    store.tls_files = {"/ca", "/c", "/k", "b.test"};
    store.timeout = 1ms;
    CHECK(read.store == store);
    CHECK(shared_of("url: 'unix:///run/redis.sock?db=3'").store.unix_path == "/run/redis.sock");
    CHECK(shared_of(url + "cluster: true").store.cluster);
    CHECK(shared_of(url + "timeout: 10s").store.timeout == 10s);
    CHECK(shared_of(url + "onUnavailable: refuse").on_unavailable == unavailable_answer::refuse);
    CHECK(shared_of(url + "onUnavailable: local").on_unavailable == unavailable_answer::local);
}

TEST_CASE("what was held back once is read, and does nothing") {
    CHECK(shared_of(url + "reserve: 2.5%").reserve.hundredths == 250);
    check_shared(url + "reserve: '5'",
                 "reserve: '5' is not a percentage such as 5% or 2.25%, with at most two digits behind the point");
}

TEST_CASE("sentinels are asked in the order of the file, each once") {
    const redis_config store = shared_of("sentinel: {master: main, addresses: [a, 'b:1', '[::1]']}").store;
    CHECK(store.sentinel_master == "main");
    CHECK(store.sentinel_addresses == std::vector<host_port>{{"a", 26379}, {"b", 1}, {"::1", 26379}});
    const auto check = [](const std::string& addresses, const std::string& told) {
        check_shared("sentinel: {master: main, addresses: " + addresses + "}", "sentinel." + told);
    };
    check("[a, 'a:26379']", "addresses[1]: is there already, as shared.sentinel.addresses[0]");
    check("[':1']", "addresses[0]: ':1' is not an address such as sentinel-0:26379 or [::1]:26379");
}

TEST_CASE("values that cannot be are told") {
    const auto check = [](const std::string& keys, const std::string& told) { check_shared(url + keys, told); };
    check("namespace: ''", "namespace: is empty, expected a name such as default");
    CHECK(shared_errors(url + "namespace: " + std::string(64, 'x')).empty());
    check("namespace: " + std::string(65, 'x'), "namespace: has 65 characters, at most 64 are possible");
    for (const std::string text : {"a b", "a:b", "{a}", "a/b", "ä", "a*"})
        check("namespace: '" + text + "'",
              "namespace: '" + text + "' has other characters than letters, digits, '_', '.' and '-'");
    check("username: 'a b', passwordFile: /p", "username: must not hold spaces or control characters");
    check_shared("sentinel: {master: \"a\\nb\", addresses: [a]}",
                 "sentinel.master: must not hold spaces or control characters");
    check("timeout: 0ms", "timeout: '0ms' is too short, at least 1ms");
    check("timeout: 11s", "timeout: '11s' is too long, at most 10s");
    check("onUnavailable: drop", "onUnavailable: 'drop' is none of local, refuse and admit");
    check("cluster: maybe", "cluster: 'maybe' is neither true nor false");
    check_shared("url: 'rediss://a', tls: {certFile: /c}", "tls.keyFile: is required beside certFile");
    check_shared("url: 'redis://gate:hunter2@valkey'",
                 "url: must not hold credentials; username and passwordFile have them");
    check("reserves: 5%", "reserves: unknown key, did you mean 'shared.reserve'?");
}

TEST_CASE("a flag says where the store is in place of the file") {
    const auto read = [](const std::string& flag) {
        return loaded(in_section("url: 'unix:///run/x?db=3', timeout: 1s"), {discard.at(0), {"shared.url", flag}})
            .shared;
    };
    CHECK(read("redis://valkey").store.host == "valkey");
    CHECK(read("redis://valkey").store.unix_path.empty());
    CHECK(read("redis://valkey").store.timeout == 1s);
    SECTION("or that there is none") {
        CHECK_FALSE(read("").has_store());
        CHECK(read("").store.unix_path.empty());
        CHECK(read("").store.database == 0);
    }
}

TEST_CASE("what a fleet needs is told where the user wrote something") {
    const std::string needs = "needs fingerprint.secretFile: gates of a fleet need the same secret";
    CHECK(errors_of(limit + "shared:\n  namespace: a\n  url: redis://valkey\n") ==
          lines{"c.yaml:4: shared.url: " + needs});
    CHECK(errors_of("", {discard.at(0), {"shared.url", "redis://valkey"}}) == lines{"--shared.url: " + needs});
    CHECK(errors_in("shared: {sentinel: {master: a, addresses: [a]}}\n") == lines{"shared.sentinel.master: " + needs});
    CHECK(errors_of(in_section(url) + "wholeHistograms: true\n") == lines{});
    check_shared(url + "username: gate",
                 "username: needs shared.passwordFile: the password stands in a file of its own");
    CHECK(shared_errors(url + "passwordFile: /p").empty());
}

TEST_CASE("ways to the store that exclude each other are told") {
    const std::string sentinel = "sentinel: {master: main, addresses: [a]}";
    check_shared("sentinel: {master: main}",
                 "sentinel.master: needs shared.sentinel.addresses: they are asked where the master is");
    check_shared(url + "sentinel: {addresses: [a]}",
                 "sentinel.addresses: needs shared.sentinel.master: the name that they are asked for");
    check_shared(sentinel + ", cluster: true",
                 "cluster: stands beside shared.sentinel: a cluster looks after its masters itself");
    check_shared(sentinel + ", url: 'unix:///run/x'", "url: is a unix socket, and sentinels know masters by address");
    check_shared("url: 'redis://a/1', cluster: true", "url: a cluster has no other database than 0");
    check_shared("url: 'unix:///run/x', tls: {caFile: /ca}",
                 "tls: is not possible: shared.url is a unix socket, which has no TLS");
    CHECK(shared_errors(sentinel + ", url: 'rediss://any/1', tls: {caFile: /ca}").empty());
}

TEST_CASE("of what is wrong by itself nothing more is told") {
    CHECK(errors_in("shared: {url: 'http://a', sentinel: {master: a}}\n").size() == 1);
    CHECK(errors_in("fingerprint: {secretFile: [a]}\nshared: {url: 'redis://a'}\n").size() == 1);
}

TEST_CASE("keys of a fleet without a fleet are doubtful") {
    const std::string why = "is not used: without shared.url or shared.sentinel.master this gate limits alone";
    const auto told = [&](const std::string& key, const std::string& value) {
        CHECK(warnings_of("shared: {" + key + ": " + value + "}\n")
                  .at(0)
                  .starts_with("c.yaml:1: warning: shared." + key));
        CHECK(warnings_of("shared: {" + key + ": " + value + "}\n").at(0).ends_with(": " + why));
    };
    told("namespace", "a");
    told("username", "a");
    told("passwordFile", "/a");
    told("sentinel", "{addresses: [a]}");
    told("cluster", "true");
    told("tls", "{caFile: /a}");
    told("timeout", "1s");
    told("onUnavailable", "admit");
    told("reserve", "1%");
    CHECK(warnings_of("shared: {namespace: default, cluster: false, tls: {}, timeout: 200ms}\n").empty());
}

TEST_CASE("what a fleet has no use for is doubtful") {
    CHECK(warnings_of(in_section(url + "tls: {caFile: /ca}")) ==
          lines{"c.yaml:3: warning: shared.tls: is not used: shared.url does not begin with rediss://"});
    CHECK(warnings_of(in_section(url + "reserve: 1%")) ==
          lines{"c.yaml:3: warning: shared.reserve: is not used any more: nothing is held back"});
}

TEST_CASE("a fleet that enforces nothing is doubtful") {
    const std::string fleet = secret + "shared: {url: 'redis://valkey'}\n";
    const lines doubt{"c.yaml:2: warning: shared.url: no limit is enforced, so there is nothing to share"};
    for (const std::string rules :
         {"", "maxHourlySeries: 0\n", "maxHourlySeries: 1\nmode: observe\n",
          "tenants: {mode: observe, default: {maxHourlySeries: 1}}\n", "tenants: {overrides: {a: {}}}\n",
          "limits: [{name: a, mode: observe, maxHourlySeries: 1}]\n", "limits: [{name: a, each: [b]}]\n"}) {
        CAPTURE(rules);
        CHECK(warnings_of(fleet + rules) == doubt);
    }
    for (const std::string rules :
         {"maxHourlySeries: 1\n", "maxDailySeries: 1\n", "tenants: {default: {maxDailySeries: 1}}\n",
          "tenants: {overrides: {a: {maxHourlySeries: 1}}}\n", "limits: [{name: a, maxHourlySeries: 1}]\n",
          "limits: [{name: a, each: [b], overrides: [{group: {b: c}, maxDailySeries: 1}]}]\n"}) {
        CAPTURE(rules);
        CHECK(warnings_of(fleet + rules).empty());
    }
}

TEST_CASE("a change of a fleet takes a restart, and is told in the words of the file") {
    const auto told = [](const std::string& keys) {
        const config before = loaded(in_section(url));
        CHECK(changes(before, loaded(in_section(url + keys)), key_effect::at_reload).empty());
        return changes(before, loaded(in_section(url + keys)), key_effect::at_restart);
    };
    CHECK(told("namespace: a, timeout: 1s, onUnavailable: admit") ==
          lines{"shared.namespace default -> a", "shared.timeout 200ms -> 1s", "shared.onUnavailable local -> admit"});
    CHECK(told("reserve: 2.50%") == lines{"shared.reserve 5% -> 2.5%"});
    CHECK(told("sentinel: {master: main, addresses: [a, '[::1]:2']}") ==
          lines{"shared.sentinel.master '' -> main", "shared.sentinel.addresses"});
    CHECK(told("tls: {caFile: /ca}") == lines{"shared.tls"});
}

}  // namespace
}  // namespace seriesgate::testing::shared_keys_test
