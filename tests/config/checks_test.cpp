#include "config/checks.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "config/endpoint.hpp"
#include "config/load.hpp"
#include "config/loading.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

namespace seriesgate::testing::checks_test {
namespace {

const std::string below = "is below maxHourlySeries, so the limit of the hour never refuses anything";
const std::string above = "is above the global max";
const std::string never = "Series, so it never refuses anything";

load_outcome load_of(const std::string& listen, const std::string& host_and_port) {
    return load_config_text("listen: '" + listen + "'\nupstream:\n  url: http://" + host_and_port + "/w\n", "c.yaml",
                            {});
}

bool is_own(const std::string& listen, const std::string& host_and_port) {
    const auto outcome = load_of(listen, host_and_port);
    for (const config_error& error : outcome.errors)
        if (error.key != "upstream.url") FAIL_CHECK(error.text());
    return !outcome.ok();
}

bool is_doubted(const std::string& listen, const std::string& host_and_port) {
    return !load_of(listen, host_and_port).warnings.empty();
}

struct scene {
    scratch_directory folder;

    std::string file(const std::string& name, mode_t mode,
                     const std::string& text = "12345678901234567890123456789012") {
        const std::string path = (folder / name.c_str()).string();
        write_file(path, text);
        REQUIRE(::chmod(path.c_str(), mode) == 0);
        return path;
    }
};

std::string doubt_of(const std::string& path) {
    return doubt_of_secret_file(path, ::geteuid());
}

std::string has(const std::string& path, const std::string& what) {
    return "has a secret in '" + path + "', which " + what;
}

constexpr auto readable = "every user can read: chmod o= keeps it to its owner and group";

TEST_CASE("the PROXY protocol needs proxies that are trusted") {
    check_error("server: {proxyProtocol: true}",
                "server.proxyProtocol: needs server.trustedProxies: whose headers to believe");
    CHECK(errors_of("server: {proxyProtocol: true, trustedProxies: []}\n").size() == 1);
    CHECK(errors_of("server: {proxyProtocol: true, trustedProxies: ['::1']}\n").empty());
    check_error("server: {proxyProtocol: true, trustedProxies: [10.0.0.1/8]}",
                "server.trustedProxies[0]: '10.0.0.1/8' is no IP address or network, such as 10.0.0.5, 10.1.0.0/16 or "
                "fd00::/8 (no bits after the prefix)");
    CHECK(errors_of("server: {trustedProxies: [10.0.0.5, 10.0.0.5/32]}\n").size() == 1);
    CHECK(errors_of("server: {trustedProxies: [proxy.example]}\n").size() == 1);
    const std::string why = ": is everybody: each sender says itself who it is";
    CHECK(warnings_of("server: {trustedProxies: ['::/0', 10.0.0.0/8, 0.0.0.0/0]}\n") ==
          lines{"c.yaml:1: warning: server.trustedProxies[0]" + why,
                "c.yaml:1: warning: server.trustedProxies[2]" + why});
}

TEST_CASE("markers without a store are doubtful") {
    check_warning("marker: true", "marker: is not used: with 'discard:' nothing is forwarded");
    CHECK(warnings_of("marker: false\n") == lines{});
    CHECK(warnings_of("marker: true\n", {{"upstream.url", "http://store/w"}}) == lines{});
}

TEST_CASE("an answer of 400 that nobody has chosen is doubtful, for what vmagent makes of it") {
    const std::string why =
        "is told with 400 as long as rejectStatus is not set: a vmagent that gets it sends that request again, and "
        "then snappy in place of zstd until its restart; 409 does neither";
    check_warning("onLimit: reject", "onLimit: " + why);
    check_warning("onLimit: drop\ntenants: {onLimit: reject}", "tenants.onLimit: " + why, 2);
    check_warning("limits: [{name: a, each: [b], maxHourlySeries: 1, onLimit: reject}]", "limits: " + why);
    check_warning("tenants: {overrides: {a: {onLimit: reject}}}", "tenants.overrides: " + why);
    for (const auto* chosen : {"400", "409", "429"})
        CHECK(warnings_of("onLimit: reject\nrejectStatus: " + std::string{chosen} + "\n") == lines{});
    CHECK(warnings_of("onLimit: reject\ntenants: {onLimit: drop}\n") == lines{});
}

TEST_CASE("tenants in the path that the store's URL does not have are doubtful") {
    const std::string text = "tenants: {path: '/insert/{account}/prometheus/api/v1/write'}\n";
    const auto told = [&](const std::string& url) { return warnings_of(text, {{"upstream.url", url}}); };
    CHECK(told("http://vminsert:8480/insert/0/prometheus/api/v1/write") ==
          lines{"c.yaml:1: warning: tenants.path: names tenants, and upstream.url has one of its own for all of them: "
                "write {account} in its place"});
    CHECK(told("http://vminsert:8480/insert/{account}/prometheus/api/v1/write") == lines{});
    CHECK(told("http://mimir:9009/api/v1/push") == lines{});
    check_error("marker: true", "marker: is not possible with {tenant} or {account} in the URL of a store", 1,
                {{"upstream.url", "http://vminsert:8480/insert/{account}/w"}});
}

TEST_CASE("a limit of the day below that of the hour is doubted wherever it stands") {
    check_warning("tenants: {default: {maxHourlySeries: 10, maxDailySeries: 9}}",
                  "tenants.default.maxDailySeries: " + below);
    check_warning("tenants:\n  default: {maxDailySeries: 9}\n  overrides:\n    a: {maxHourlySeries: 10}",
                  "tenants.overrides.a.maxHourlySeries: is above maxDailySeries, so it never refuses anything", 4);
    check_warning("tenants:\n  overrides:\n    a:\n      maxDailySeries: 9\n      maxHourlySeries: 10",
                  "tenants.overrides.a.maxDailySeries: " + below, 4);
    CHECK(warnings_of("limits:\n- name: a\n  each: [b]\n  maxHourlySeries: 10\n  maxDailySeries: 9\n  overrides:\n"
                      "  - {group: {b: c}, maxDailySeries: 8}\n  - {group: {b: d}}\n") ==
          lines{"c.yaml:5: warning: limits[0].maxDailySeries: " + below,
                "c.yaml:7: warning: limits[0].overrides[0].maxDailySeries: " + below});
}

TEST_CASE("limits of flags are doubted, too") {
    overrides flags = discard;
    flags.push_back({"maxDailySeries", "9"});
    CHECK(warnings_of("maxHourlySeries: 10\nmaxDailySeries: 20\n", flags) ==
          lines{"--maxDailySeries: warning: " + below});
}

TEST_CASE("a limit above the global one is doubted") {
    check_warning("maxHourlySeries: 10\ntenants: {default: {maxHourlySeries: 11}}",
                  "tenants.default.maxHourlySeries: " + above + "Hourly" + never, 2);
    check_warning("maxDailySeries: 10\ntenants: {overrides: {a: {maxDailySeries: 11}}}",
                  "tenants.overrides.a.maxDailySeries: " + above + "Daily" + never, 2);
    CHECK(warnings_of("maxHourlySeries: 10\nlimits:\n- name: a\n  each: [b]\n  maxHourlySeries: 11\n  overrides:\n"
                      "  - {group: {b: c}, maxHourlySeries: 12}\n  - {group: {b: d}}\n") ==
          lines{"c.yaml:5: warning: limits[0].maxHourlySeries: " + above + "Hourly" + never,
                "c.yaml:7: warning: limits[0].overrides[0].maxHourlySeries: " + above + "Hourly" + never});
}

TEST_CASE("limits that fit each other are not doubted") {
    CHECK(warnings_of("maxHourlySeries: 10\nmaxDailySeries: 10\n"
                      "tenants: {default: {maxHourlySeries: 10}, overrides: {a: {maxDailySeries: 0}}}\n"
                      "limits:\n- {name: a, maxHourlySeries: 9, maxDailySeries: 10, match: 'up{a=\"b\",a!=\"c\"}'}\n"
                      "exempt: [up, '{__name__=~\"up|ALERTS.*\"}', '{__name__!=\"\",job=\"\"}']\n"
                      "ignoreLabels: [replica]\n") == lines{});
    CHECK(warnings_of("maxDailySeries: 10\n") == lines{});
    CHECK(warnings_of("maxHourlySeries: 10\ntenants: {default: {maxHourlySeries: 0}}\n") == lines{});
}

TEST_CASE("selectors of nothing and of everything are doubted") {
    const std::string nothing = "matches no series: two of its conditions exclude each other";
    check_warning("limits:\n- name: a\n  match: '{a=\"b\",a=\"c\"}'", "limits[0].match: " + nothing, 3);
    check_warning("limits:\n- name: a\n  match: '{a=\"b\",a=~\"c.*\"}'", "limits[0].match: " + nothing, 3);
    check_warning("exempt: [up, 'up{a=\"b\",a=\"c\"}']", "exempt[1]: " + nothing);
    const std::string everything =
        "matches every series or nearly, and maxExemptSeries is the only limit of what is exempt";
    for (const std::string text : {"{__name__=~\".+\"}", "{__name__!=\"\"}", "{__name__=~\".+\",env!=\"dev\"}"}) {
        CAPTURE(text);
        check_warning("exempt: ['" + text + "']", "exempt[0]: " + everything);
    }
}

TEST_CASE("what a limit matches and is exempt is doubted") {
    check_warning(
        "limits:\n- {name: a, match: up}\n- {name: b, match: '{a=\"b\",c=\"d\"}'}\nexempt: ['{c=\"d\",a=\"b\"}']",
        "exempt[0]: is what limits[1] matches, which therefore refuses only what exceeds maxExemptSeries", 4);
}

TEST_CASE("names that do not count are doubted") {
    check_warning("ignoreLabels: [__name__]",
                  "ignoreLabels: without the name, series of all metrics that have the same labels count as one");
}

TEST_CASE("labels that /api/v1/top cannot be asked for are doubted") {
    check_warning("topLabels: [job, tenant]",
                  "topLabels[1]: is a word of /api/v1/top itself, which never shows the values of this label");
}

TEST_CASE("a configuration with errors is not doubted") {
    CHECK(load_config_text("maxHourlySeries: 10\nmaxDailySeries: 9\nmode: x\n", "c.yaml", discard).warnings.empty());
}

TEST_CASE("limits that go by an ignored label are errors") {
    const std::string why = "'r' is one of ignoreLabels, which do not tell series apart";
    CHECK(errors_of(
              "ignoreLabels: [r]\nlimits:\n- {name: a, each: [b, r], match: '{r=~\".+\"}'}\nexempt: ['{r=\"x\"}']\n") ==
          lines{"c.yaml:3: limits[0].match: " + why, "c.yaml:3: limits[0].each[1]: " + why,
                "c.yaml:4: exempt[0]: " + why});
    CHECK(errors_of("ignoreLabels: [s]\nlimits:\n- {name: a, each: [r], match: '{r=~\".+\"}'}\n") == lines{});
}

TEST_CASE("an upstream that is the gate itself is found") {
    const lines any_family{"localhost", "LocalHost", "localhost.", "gate.localhost"};
    const lines v4{"127.0.0.1", "0.0.0.0"};
    const lines v6{"[::1]", "[::]"};
    const auto check = [](const std::string& listen, const lines& hosts, bool is_error) {
        for (const std::string& host : hosts) {
            CAPTURE(listen, host);
            CHECK(is_own(listen, host + ":9201") == is_error);
            CHECK(is_doubted(listen, host + ":9201") == !is_error);
        }
    };
    for (const std::string listen : {"[::]:9201", "localhost:9201"})
        for (const lines& hosts : {any_family, v4, v6}) check(listen, hosts, true);
    for (const std::string listen : {":9201", "0.0.0.0:9201", "127.0.0.1:9201"}) {
        for (const lines& hosts : {any_family, v4}) check(listen, hosts, true);
        check(listen, v6, false);
    }
    for (const lines& hosts : {any_family, v6}) check("[::1]:9201", hosts, true);
    check("[::1]:9201", v4, false);
    check("127.0.0.2:9201", any_family, false);
    check("127.0.0.2:9201", {"127.0.0.2"}, true);
    check("0.0.0.0:9201", {"127.0.0.2"}, true);
    CHECK(is_own("10.0.0.1:9201", "10.0.0.1:9201"));
    CHECK(is_own("Gate.example:9201", "gate.example:9201"));
    CHECK(is_own(":80", "localhost"));
}

TEST_CASE("another address of this machine with the same port is doubted") {
    const auto outcome =
        load_config_text("listen: 127.0.0.1:8428\nupstream:\n  url: http://[::1]:8428/w\n", "c.yaml", {});
    CHECK(outcome.ok());
    CHECK(texts_of(outcome.warnings) == lines{"c.yaml:3: warning: upstream.url: is another address of this machine "
                                              "with the port of 'listen': if no store listens there, it is wrong"});
}

TEST_CASE("an upstream elsewhere is none of ours") {
    for (const auto* store : {"localhost:9202", "10.0.0.1:9201", "store:9201", "mylocalhost:9201"})
        CHECK_FALSE(is_own(":9201", store));
    CHECK_FALSE(is_own(":0", "localhost:80"));
    for (const auto* store : {"localhost:9201", "10.0.0.2:9201"}) CHECK_FALSE(is_own("10.0.0.1:9201", store));
    CHECK_FALSE(is_own("127.0.0.1:9201", "127.0.0.2:9201"));
    CHECK_FALSE(is_doubted("127.0.0.1:9201", "127.0.0.2:9201"));
    CHECK_FALSE(is_doubted("10.0.0.1:9201", "localhost:9201"));
    CHECK(load_config_text("listen: :9201\n", "c.yaml", discard).ok());
}

TEST_CASE("that the upstream is the gate is told where one of the two was written") {
    const std::string why = "the gate would send to itself; the store listens elsewhere";
    check_error("listen: :8428\nupstream: {url: 'http://localhost:8428/w'}",
                "upstream.url: is the address of 'listen': " + why, 2, {});
    CHECK(errors_of("listen: :8428\n", {{"upstream.url", "http://localhost:8428/w"}}) ==
          lines{"--upstream.url: is the address of 'listen': " + why});
    check_error("upstream: {url: 'http://localhost:9201/w'}", "upstream.url: is the address of 'listen': " + why, 1,
                {});
    CHECK(errors_of("listen: x\nupstream: {url: 'http://localhost:9201/w'}\n", {}).size() == 1);
}

TEST_CASE("an upstream that is the gate's address for people is found, too") {
    const std::string store = "upstream: {url: 'http://localhost:9202/w'}\n";
    CHECK(errors_of("admin: {listen: ':9202'}\n" + store, {}) ==
          lines{"c.yaml:2: upstream.url: is the address of 'admin.listen': the gate would send to itself; the store "
                "listens elsewhere"});
    CHECK(errors_of("admin: {listen: 'unix:/9202'}\n" + store, {}).empty());
    CHECK(errors_of("admin: {listen: x}\n" + store, {}).size() == 1);
}

TEST_CASE("two listeners have two addresses") {
    const overrides store{{"upstream.url", "discard:"}};
    check_error(
        "listen: localhost:1\nadmin: {listen: 'localhost:1'}",
        "admin.listen: 'listen' and 'admin.listen' have one address: leave 'admin.listen' out to have all there", 2,
        store);
    CHECK(errors_of("listen: unix:/a\nadmin: {listen: unix:/a}\n", store).size() == 1);
    CHECK(errors_of("admin: {listen: '0.0.0.0:9201'}\n", store).size() == 1);
    CHECK(errors_of("listen: :0\nadmin: {listen: ':0'}\n", store).empty());
    CHECK(errors_of("listen: unix:/a\nadmin: {listen: unix:/b}\n", store).empty());
    CHECK(errors_of("listen: x\nadmin: {listen: '0.0.0.0:9201'}\n", store).size() == 1);
}

TEST_CASE("a secret that other users get at is doubtful") {
    scene at;
    CHECK(doubt_of("").empty());
    CHECK(doubt_of((at.folder / "none").string()).empty());
    for (const mode_t mode : {0400u, 0600u, 0640u, 0660u}) CHECK(doubt_of(at.file("kept", mode)).empty());
    const std::string read = at.file("read", 0644), written = at.file("written", 0602);
    CHECK(doubt_of(read) == has(read, readable));
    CHECK(doubt_of(written) == has(written, "every user can change"));
    const std::string link = (at.folder / "link").string();
    std::filesystem::create_symlink(read, link);
    CHECK(doubt_of(link) == has(link, readable));
}

TEST_CASE("a secret that other users can replace is doubtful") {
    scene at;
    const std::string kept = at.file("kept", 0600), folder = (at.folder / "").parent_path().string();
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    CHECK(doubt_of(kept) == has(kept, "stands in the directory '" + folder + "', where every user can replace it"));
    REQUIRE(::chmod(folder.c_str(), 01777) == 0);  // as /tmp: each may remove only what is their own
    CHECK(doubt_of(kept).empty());
    if (::geteuid() != 0) return;  // nobody else can give files away
    REQUIRE(::chown(folder.c_str(), 65'534, 0) == 0);
    CHECK(doubt_of(kept) == has(kept, "stands in the directory '" + folder + "', which belongs to the user 65534"));
    REQUIRE(::chown(kept.c_str(), 65'534, 0) == 0);
    CHECK(doubt_of(kept) == has(kept, "belongs to the user 65534"));
}

TEST_CASE("every file with a secret is looked at") {
    scene at;
    const std::string open = at.file("open", 0644), token = at.file("token", 0644, "token\n");
    const std::string hash = "$2y$10$abcdefghijklmnopqrstuuRJ7zPjlYG4jZRNgXJ0kzeTjy2sOO5Pm";
    const std::string web = at.file("web.yml", 0644,
                                    "basic_auth_users: {shop: " + hash +
                                        "}\nbearer_tokens: [{name: a, token_file: token}]\n"
                                        "tls_server_config: {cert_file: open, key_file: open}\n");
    const std::string main =
        at.file("main.yaml", 0644,
                "upstream:\n  url: https://a/w?token=x\n  basicAuth: {username: a, passwordFile: " + open +
                    "}\n  tls: {certFile: " + open + ", keyFile: " + open +
                    "}\n  replicateTo: [{url: 'http://b/w', bearerTokenFile: " + open +
                    "}]\nfingerprint: {secretFile: " + open + "}\nshared: {url: 'rediss://c', passwordFile: " + open +
                    ", tls: {certFile: " + open + ", keyFile: " + open + "}}\nweb: {config: {file: " + web + "}}\n");
    const auto loaded = load_config(main, {});
    for (const config_error& error : loaded.errors) FAIL_CHECK(error.text());
    std::vector<std::string> told;
    for (const config_error& each : loaded.warnings)
        if (each.message.starts_with("has a secret")) told.push_back(each.text());
    const auto line = [&](const std::string& key, const std::string& path) {
        return main + ": warning: " + (key.empty() ? "" : key + ": ") + has(path, readable);
    };
    CHECK(told == std::vector<std::string>{
                      line("fingerprint.secretFile", open), line("upstream.basicAuth.passwordFile", open),
                      line("upstream.tls.keyFile", open), line("upstream.replicateTo[0].bearerTokenFile", open),
                      line("shared.passwordFile", open), line("shared.tls.keyFile", open), line("web.config.file", web),
                      line("web.config.file", open), line("web.config.file", token), line("", main)});
}

TEST_CASE("the secret of state.dir is one of them") {
    scene at;
    const std::string made = at.file("secret", 0644);
    config settings;
    settings.state.dir = (at.folder / "").parent_path().string();
    const auto doubts = lint_secret_files(settings, "");
    REQUIRE(doubts.size() == 1);
    CHECK(doubts[0].text() == "warning: state.dir: " + has(made, readable));
    settings.secret_file = at.file("other", 0600);
    CHECK(lint_secret_files(settings, "").empty());
    if (::geteuid() != 0) return;
    // Root checks for the gate's user, who has a folder of its own.
    settings.secret_file.clear();
    REQUIRE((::chmod(made.c_str(), 0600) == 0 && ::chown(made.c_str(), 65'534, 0) == 0));
    CHECK(lint_secret_files(settings, "").size() == 1);
    REQUIRE(::chown(settings.state.dir.c_str(), 65'534, 0) == 0);
    CHECK(lint_secret_files(settings, "").empty());
}

}  // namespace
}  // namespace seriesgate::testing::checks_test
