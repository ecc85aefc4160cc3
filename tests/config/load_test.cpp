#include "config/load.hpp"

#include "config/loading.hpp"
#include "support/catch.hpp"
#include "support/files.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

TEST_CASE("an empty file means the defaults") {
    config expected;
    expected.upstream.discard = true;
    for (const std::string_view text : {"", "\n\n", "# only a comment\n", "---\n", "~\n",
                                        "upstream:\nserver:\nstate:\ntenants:\n  default:\n  overrides:\n"
                                        "limits:\nexempt:\nignoreLabels:\n",
                                        "tenants: {default: {}, overrides: {}}\nlimits: []\nexempt: []\n"
                                        "ignoreLabels: []\nstate: {}\n"}) {
        CAPTURE(text);
        CHECK(loaded(text) == expected);
    }
    // What they are, key by key: effective_test.cpp.
}

TEST_CASE("lists and names with nothing below them are doubted, sections are not") {
    const std::string why = "has nothing below it, so it is empty";
    CHECK(warnings_of("tenants:\n  overrides:\nlimits:\ntopLabels:\n") ==
          lines{"c.yaml:2: warning: tenants.overrides: " + why, "c.yaml:3: warning: limits: " + why,
                "c.yaml:4: warning: topLabels: " + why});
    CHECK(warnings_of("tenants:\nlimits: []\n") == lines{});
}

TEST_CASE("every key of the file arrives in its place") {
    const config read = loaded(
        "listen: '[::1]:1234'\n"
        "upstream: {url: 'http://store:8428/w?a=b', timeout: 1500ms, connectTimeout: 250ms,\n"
        "  protocol: v1, hostHeader: sender, forwardQuery: [extra_label, 'x[]']}\n"
        "maxHourlySeries: 10000\n"
        "maxDailySeries: \"20000\"\n"
        "falsePositiveRate: 1e-6\n"
        "incumbentGrace: 1m30s\n"
        "mode: observe\n"
        "wholeHistograms: true\n"
        "maxHistogramSeries: 50\n"
        "histogramMargin: 2.5%\n"
        "marker: true\n"
        "state: {dir: /var/lib/x y, interval: 100ms}\n"
        "server: {maxRequestBytes: 1MB, maxDecodedBytes: 2MiB, maxInflightBytes: 1GiB, maxHeaderBytes: 8KiB,\n"
        "  threads: 3, maxQueueDelay: 200ms, headerTimeout: 4s, readTimeout: 5s, writeTimeout: 6s, idleTimeout: 2h,\n"
        "  drainTimeout: 1m, hosts: [gate.example.org, 'Other:8080', '[::1]:9201'], proxyProtocol: true,\n"
        "  trustedProxies: [10.0.0.5, 10.1.0.0/16, fd00::/8], takeoverSocket: /run/takeover}\n",
        {});
    const store_backend store{
        .url = "http://store:8428/w?a=b", .host = "store", .port = 8428, .target = "/w?a=b", .authority = "store:8428"};
    CHECK(read.listen == listen_address{.host = "::1", .port = 1234});
    CHECK(read.upstream.store.backends == std::vector{store});
    CHECK(read.upstream.timeout == 1500ms);
    CHECK(read.upstream.connect_timeout == 250ms);
    CHECK(read.upstream.protocol == upstream_protocol::v1);
    CHECK(read.upstream.host_header == upstream_host::sender);
    CHECK(read.upstream.forward_query == std::set<std::string, std::less<>>{"extra_label", "x[]"});
    CHECK(read.rules.global == series_maxima{10'000, 20'000});
    CHECK(read.rules.false_positive_rate == 1e-6);
    CHECK(read.rules.incumbent_grace == 90s);
    CHECK(read.rules.mode == limit_mode::observe);
    CHECK(read.rules.whole_histograms);
    CHECK(read.rules.histogram_series_max == 50);
    CHECK(read.rules.histogram_margin == percentage{250});
    CHECK(read.marker);
    CHECK(read.state == state_config{.dir = "/var/lib/x y", .interval = 100ms});
    CHECK(read.server ==
          server_config{.body_bytes_max = 1'000'000,
                        .decoded_bytes_max = 2'097'152,
                        .inflight_bytes_max = 1'073'741'824,
                        .header_bytes_max = 8'192,
                        .threads = 3,
                        .queue_delay_max = 200ms,
                        .header_timeout = 4s,
                        .read_timeout = 5s,
                        .write_timeout = 6s,
                        .idle_timeout = 2h,
                        .drain_timeout = 1min,
                        .hosts = {"gate.example.org", "other:8080", "[::1]:9201"},
                        .proxy_protocol = true,
                        .trusted_proxies = {*parse_ip_network("10.0.0.5"), *parse_ip_network("10.1.0.0/16"),
                                            *parse_ip_network("fd00::/8")},
                        .takeover_socket = "/run/takeover"});
}

TEST_CASE("flags override the file") {
    const config read = loaded("listen: :1\nupstream: {url: http://a/b, timeout: 3s}\nmaxHourlySeries: 5\n",
                               {{"listen", "127.0.0.1:0"}, {"upstream.url", "http://c/d"}, {"maxHourlySeries", "7"}});
    CHECK(read.listen == listen_address{.host = "127.0.0.1", .port = 0});
    CHECK(read.upstream.store.backends.at(0).host == "c");
    CHECK(read.upstream.timeout == 3s);
    CHECK(read.rules.global.hourly == 7);
}

TEST_CASE("anchors and aliases may be used") {
    CHECK(loaded("maxHourlySeries: &n 12\nmaxDailySeries: *n\n").rules.global.daily == 12);
}

TEST_CASE("an unknown key is an error and the likely key is named") {
    check_error("server:\n  max_request_bytes: 5",
                "server.max_request_bytes: unknown key, did you mean 'server.maxRequestBytes'?", 2);
    check_error("timeout: 5s", "timeout: unknown key, did you mean 'upstream.timeout'?");
    check_error("upstreams: {url: x}", "upstreams: unknown key, did you mean 'upstream'?");
    check_error("metrics: {path: /x}", "metrics: unknown key");
    check_error("upstream.url: http://a/b", "upstream.url: must stand as 'url:' in the section 'upstream:'");
    check_error("tenants.default.maxDailySeries: 1",
                "tenants.default.maxDailySeries: must stand as 'maxDailySeries:' in the section 'tenants.default:'");
    check_error("tenants:\n  default.maxDailySeries: 1",
                "tenants.default.maxDailySeries: must stand as 'maxDailySeries:' in the section 'tenants.default:'", 2);
    check_error("tenants.overrides: {}", "tenants.overrides: must stand as 'overrides:' in the section 'tenants:'");
    check_error("\"\": 1", "'': unknown key");
    check_error("? [a, b]\n: c", "a key must be plain text");
}

TEST_CASE("a key set twice is an error on its second line") {
    CHECK(errors_of("server: {threads: 1}\nserver: {threads: 2}\n") ==
          lines{"c.yaml:2: server: is set twice, first on line 1",
                "c.yaml:2: server.threads: is set twice, first on line 1"});
}

TEST_CASE("a value of the wrong kind is an error") {
    check_error("maxHourlySeries: [1, 2]", "maxHourlySeries: expected one value, got a list");
    check_error("maxHourlySeries: {a: b}", "maxHourlySeries: expected one value, got keys and values");
    check_error("maxHourlySeries:", "maxHourlySeries: has no value");
    check_error("maxHourlySeries: null", "maxHourlySeries: has no value");
    check_error("server: 5", "server: expected keys below it, got '5'");
    check_error("upstream: http://a/b", "upstream: expected keys below it, got one value", 1, {});
    check_error("tenants: {default: 5}", "tenants.default: expected keys below it, got '5'");
    check_error("server: [threads]", "server: expected keys below it, got a list");
    check_error("- listen", "expected lines of 'key: value' at the top level");
    check_error("\nlisten=:9201",
                "expected lines of 'key: value' at the top level, with a colon and a space behind the key", 2);
}

TEST_CASE("a count that is none is an error") {
    const auto error_of = [](const std::string& value) { return errors_of("maxDailySeries: " + value + "\n"); };
    const std::string at = "c.yaml:1: maxDailySeries: ";
    for (const std::string value : {"abc", "1.5", "010", "0x10", "1,000"})
        CHECK(error_of(value) ==
              lines{at + "'" + value + "' is not a whole number such as 5000 or 500k; 0 is no limit"});
    CHECK(error_of("-5") == lines{at + "'-5' is negative; 0 is no limit"});
    CHECK(error_of("1000000000001") == lines{at + "'1000000000001' is too large, at most 1000000000000"});
    CHECK(error_of("18446744073709551617") == lines{at + "'18446744073709551617' is too large, at most 1000000000000"});
    CHECK(error_of("1000000000000").empty());
    check_error("server: {threads: 1025}", "server.threads: '1025' is too large, at most 1024");
}

TEST_CASE("a false-positive rate out of bounds is an error") {
    const auto error_of = [](const std::string& value) { return errors_of("falsePositiveRate: " + value + "\n"); };
    const std::string at = "c.yaml:1: falsePositiveRate: ";
    for (const std::string value : {"0", "-0.1", "0.51", "1", "1e-10", "1e-999", "nan", "inf", "1e999"}) {
        CHECK(error_of(value) == lines{at + "'" + value + "' is not between 0.000000001 and 0.5"});
    }
    for (const std::string value : {"abc", "1/100", "''", "0.01%", "0,01"}) {
        const std::string shown = value == "''" ? "" : value;
        CHECK(error_of(value) == lines{at + "'" + shown + "' is not a number such as 0.0001"});
    }
    CHECK(error_of("0.5").empty());
    CHECK(error_of("1e-9").empty());
    CHECK(error_of(".25").empty());
}

TEST_CASE("a duration out of bounds or without a unit is an error") {
    check_error("state: {interval: 99ms}", "state.interval: '99ms' is too short, at least 100ms");
    check_error("state: {interval: 61m}", "state.interval: '61m' is too long, at most 1h");
    check_error("upstream: {timeout: 25}", "upstream.timeout: '25' has no unit: write 25s");
    check_error("upstream: {timeout: 25 s}",
                "upstream.timeout: '25 s' is not a duration such as 500ms, 25s, 10m or 1h30m");
    check_error("upstream: {timeout: soon}",
                "upstream.timeout: 'soon' is not a duration such as 500ms, 25s, 10m or 1h30m");
    check_error("upstream: {timeout: -5s}", "upstream.timeout: '-5s' is negative");
    for (const std::string key : {"headerTimeout", "readTimeout", "writeTimeout", "idleTimeout", "drainTimeout"}) {
        check_error("server: {" + key + ": 0s}", "server." + key + ": '0s' is too short, at least 1ms");
        check_error("server: {" + key + ": 25h}",
                    "server." + key + ": '25h' is too long, at most " + (key == "idleTimeout" ? "1d" : "1h"));
    }
    check_error("incumbentGrace: 61m", "incumbentGrace: '61m' is too long, at most 1h");
    check_error("incumbentGrace: 1s500ms", "incumbentGrace: '1s500ms' is not in whole seconds");
    CHECK(loaded("incumbentGrace: 0\n").rules.incumbent_grace == 0s);
    CHECK(loaded("incumbentGrace: 1h\n").rules.incumbent_grace == 1h);
    CHECK_FALSE(loaded("wholeHistograms: false\n").rules.whole_histograms);
    check_error("wholeHistograms: yes", "wholeHistograms: 'yes' is neither true nor false");
}

TEST_CASE("a size out of bounds or in a strange unit is an error") {
    check_error("server: {maxRequestBytes: much}",
                "server.maxRequestBytes: 'much' is not a size such as 4096, 512KiB, 32MiB or 1GB");
    check_error("server: {maxRequestBytes: 32M}",
                "server.maxRequestBytes: '32M' is not a size such as 4096, 512KiB, 32MiB or 1GB");
    check_error("server: {maxRequestBytes: -1}", "server.maxRequestBytes: '-1' is negative");
    check_error("server: {maxRequestBytes: 0}", "server.maxRequestBytes: '0' is too small, at least 1B");
    check_error("server: {maxDecodedBytes: 2GiB}", "server.maxDecodedBytes: '2GiB' is too large, at most 1GiB");
    check_error("server: {maxInflightBytes: 99999GiB}",
                "server.maxInflightBytes: '99999GiB' is too large, at most 1024GiB");
}

TEST_CASE("sizes that contradict each other are told where the user set one") {
    const std::string too_small = "server.maxRequestBytes (32MiB) must be at most server.maxDecodedBytes (16MiB)";
    check_error("server:\n  maxDecodedBytes: 16MiB", "server.maxDecodedBytes: " + too_small, 2);
    check_error(
        "server:\n  maxRequestBytes: 256MiB\n  threads: 1",
        "server.maxRequestBytes: server.maxRequestBytes (256MiB) must be at most server.maxDecodedBytes (128MiB)", 2);
    const auto together = [](const std::string& decoded, const std::string& inflight) {
        return "server.maxRequestBytes (32MiB) plus server.maxDecodedBytes (" + decoded +
               ") must be at most server.maxInflightBytes (" + inflight +
               "), or a large request is told to try again for ever";
    };
    check_error("server:\n  maxInflightBytes: 100MiB", "server.maxInflightBytes: " + together("128MiB", "100MiB"), 2);
    check_error("server:\n  maxDecodedBytes: 1GiB", "server.maxDecodedBytes: " + together("1GiB", "512MiB"), 2);
    CHECK(errors_of("server:\n  maxDecodedBytes: 16MiB\n  maxRequestBytes: x\n").size() == 1);
}

TEST_CASE("a file without upstream.url needs the flag") {
    const std::string message =
        "upstream.url: is required, in the file or as --upstream.url=URL: "
        "http://host:port/path, or discard: to only count";
    check_error("listen: :1\nupstream:\n  timeout: 5s", message, 2, {});
    CHECK(load_config(std::nullopt, {}).errors.at(0).text() == message);
    CHECK(load_config_text("", "c.yaml", {}).errors.at(0).text() == "c.yaml: " + message);
    CHECK(load_config(std::nullopt, discard).ok());
    check_error("upstream: {url: x}", "upstream.url: is not a URL such as http://127.0.0.1:8428/api/v1/write", 1, {});
}

TEST_CASE("a bad flag is told by its name") {
    overrides flags = discard;
    flags.push_back({"maxHourlySeries", "-1"});
    flags.push_back({"listen", "here"});
    flags.push_back({"speed", "high"});
    flags.push_back({"limits", "[]"});
    CHECK(errors_of("", flags) == lines{"--maxHourlySeries: '-1' is negative; 0 is no limit",
                                        "--listen: 'here' is not an address such as 0.0.0.0:9201, :9201 or [::1]:9201",
                                        "--speed: unknown flag", "--limits: unknown flag"});
}

TEST_CASE("text that is not YAML is told with its line, and nothing is said of what is then missing") {
    const auto told = [](std::string_view text) { return errors_of(text, {}).at(0); };
    CHECK(told("listen: :1\nserver: [\n")
              .starts_with("c.yaml:3: column 1: not valid YAML: a [ is not closed before this, or a value within"));
    CHECK(errors_of("listen: :1\n\tthreads: 1\n", {}).size() == 1);
    CHECK(told("a: *nowhere\n") ==
          "c.yaml:1: column 4: not valid YAML: a value that begins with * needs quotes, unless an anchor (&) has that "
          "name");
    CHECK(told("upstream:\n  url: discard:\n").starts_with("c.yaml:2: column 15: not valid YAML: illegal map value"));
    const std::string_view second = "c.yaml:2: expected the end of the file: a line that is indented less than";
    CHECK(told("listen: :1\n---\nlisten: :2\n").starts_with(second));
    CHECK(told("  listen: :1\nmode: observe\n").starts_with(second));
    CHECK(told(",\n").starts_with("c.yaml:1: expected the end of the file: "));
}

TEST_CASE("an error is one short line whatever the file holds") {
    const auto errors = errors_of("\"k\\ny\": 1\nlisten: \"x\\ny\\e[31m\"\n" + std::string(500, 'k') + ": 1\n");
    REQUIRE(errors.size() == 3);
    CHECK(errors[0] == "c.yaml:1: k?y: unknown key");
    CHECK(errors[1] == "c.yaml:2: listen: 'x?y?[31m' is not an address such as 0.0.0.0:9201, :9201 or [::1]:9201");
    CHECK(errors[2] == "c.yaml:3: " + std::string(80, 'k') + "...: unknown key");
}

TEST_CASE("more errors than anyone reads are counted only") {
    std::string text;
    for (int i = 0; i < 1500; ++i) text.append("k").append(std::to_string(i)).append(": 1\n");
    const auto errors = errors_of(text);
    REQUIRE(errors.size() == 1001);
    CHECK(errors[999] == "c.yaml:1000: k999: unknown key");
    CHECK(errors[1000] == "c.yaml: 500 more errors, not shown");
    CHECK(errors_of(std::string(1001, 'x')).size() == 1);
}

TEST_CASE("a file that cannot be read is one clear line") {
    const auto only_error = [](const std::string& path) {
        const auto errors = load_config(path, {}).errors;
        REQUIRE(errors.size() == 1);
        return errors.front().text();
    };
    CHECK(only_error("/nowhere/seriesgate.yaml") ==
          "/nowhere/seriesgate.yaml: cannot be read: No such file or directory");
    CHECK(only_error("/") == "/: cannot be read: Is a directory");
    CHECK(load_config_text(std::string((1 << 20) + 1, '#'), "big.yaml", {}).errors.at(0).text() ==
          "big.yaml: is larger than 1MiB");
    CHECK(load_config_text(std::string(1 << 20, '#'), "big.yaml", discard).ok());
}

TEST_CASE("a file is read from disk") {
    const scratch_directory folder;
    const std::string path = folder / "c.yaml";
    write_file(path, "upstream: {url: 'discard:'}\nmaxHourlySeries: 77\nthread: 1\n");
    const auto outcome = load_config(path, {});
    CHECK(outcome.value.rules.global.hourly == 77);
    REQUIRE(outcome.errors.size() == 1);
    CHECK(outcome.errors.front().where == path + ":3");
    CHECK(outcome.errors.front().key == "thread");
    CHECK(outcome.errors.front().message == "unknown key, did you mean 'server.threads'?");
}

TEST_CASE("deep nesting, cycles and broken encodings are survived") {
    for (const std::string_view piece :
         {"[", "{a: ", "- ", "? ", "a: ", "&a [*a, ", "!!", "%", "\xff\xfe", "'", "|\n"}) {
        std::string text;
        while (text.size() < 100'000) text += piece;
        CAPTURE(piece);
        CHECK_FALSE(load_config_text(text, "c.yaml", {}).ok());
    }
    CHECK_FALSE(load_config_text("server: &s {threads: *s}\n", "c.yaml", discard).ok());
    CHECK_FALSE(load_config_text("&r\nserver: *r\n", "c.yaml", discard).ok());
    CHECK_FALSE(load_config_text(std::string(1000, '\0'), "c.yaml", {}).ok());
}

TEST_CASE("forwardQuery is a list of names of arguments") {
    CHECK(errors_of("upstream: {forwardQuery: }\n").empty());
    CHECK(errors_of("upstream: {forwardQuery: []}\n").empty());
    CHECK(errors_of("upstream: {forwardQuery: ['a=b', 'a&b', '']}\n").size() == 3);
}
