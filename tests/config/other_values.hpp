/// What every key may have, in place of its default.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::testing {

/// Values of keys, as they stand behind the colon.
using values_of_keys = std::map<std::string_view, std::string>;

/// For every key its other value, which is not its default, and what else random_config may choose. In that
/// `$1-9$` is a number within these bounds, `$/text$` any text behind a `/`, `$a-name$` the same as the name of a key,
/// `$again$` the last text as a name, and `$$` a dollar.
inline const std::map<std::string_view, std::vector<std::string>>& possible_values() {
    const std::string series = "$0-1000000000000$", some = "$1-1000000$", up_to_an_hour = "$1-3600000$ms";
    const std::string one_file = "$/text$", percents = "$0-49$.$0-99$%";
    const std::string own_tls = "{caFile: $/text$, certFile: $/text$, keyFile: $/text$, serverName: name.test}";
    const std::string basic = "{username: $it's # text$, passwordFile: $/text$}";
    const std::string two_headers = "{X-1: '', X-2: '<secret>'}";
    const std::vector<std::string> tls{"{caFile: /ca.pem}", own_tls, "{serverName: '::1'}"};
    static const std::map<std::string_view, std::vector<std::string>> all{
        {"listen", {"127.0.0.1:9999", "'[::1]:$0-99$'"}},
        {"admin.listen", {"unix:/run/admin.sock", "localhost:1000", "$unix:/text$"}},
        {"web.config.file", {"/web.yml", one_file}},
        {"upstream.url", {"http://other:1/write", "'discard:'", "https://store.test:1234/write/$0-99$"}},
        {"upstream.urls",
         {"[\"http://a:1/write\", \"https://b:1/write\"]", "['http://a/$0-9$', 'https://b/', 'https://c/']"}},
        {"upstream.timeout", {"1s", up_to_an_hour}},
        {"upstream.connectTimeout", {"1s", up_to_an_hour}},
        {"upstream.protocol", {"v1"}},
        {"upstream.hostHeader", {"sender"}},
        {"upstream.forwardQuery", {"[extra_label]", "[$text$, $a text$, $b text$]"}},
        {"upstream.tls", tls},
        {"upstream.basicAuth", {"{username: gate, passwordFile: /password}", basic}},
        {"upstream.bearerTokenFile", {"/token", one_file}},
        {"upstream.headers", {"{X-Store: '<secret>'}", two_headers}},
        {"upstream.maxConnections", {"1", some}},
        {"upstream.replicateTo",
         {"[{url: \"http://c:1/write\", bestEffort: true}]",
          "[{url: 'https://d/$0-9$', tls: " + own_tls + ", basicAuth: " + basic + ", headers: " + two_headers +
              "}, {urls: ['http://e/', 'https://f/'], bearerTokenFile: $/text$, bestEffort: true}]"}},
        {"maxHourlySeries", {"1", series}},
        {"maxDailySeries", {"1", series}},
        {"maxActiveSeries", {"1", series}},
        {"activeWindow", {"5m", "$1-1440$m"}},
        {"falsePositiveRate", {"0.1", "0.$1-499999999$", "$1-9$.$1-999999999$e-8"}},
        {"seriesSet", {"exact"}},
        {"ignoreLabels", {"[replica]", "[$ignored text$, $also text$]"}},
        {"topLabels", {"[job, namespace]", "[]", "[$text$, $top text$]"}},
        {"fingerprint.secretFile", {"/secret", one_file}},
        {"incumbentGrace", {"1m", "$0-3600$s"}},
        {"mode", {"observe"}},
        {"onLimit", {"reject"}},
        {"rejectStatus", {"429", "409"}},
        {"tenants.header", {"X-Other", "'!#$$%&''*+-.^_`|~'"}},
        {"tenants.path", {"\"/insert/{account}/prometheus/api/v1/write\""}},
        {"tenants.mode", {"observe"}},
        {"tenants.onLimit", {"reject"}},
        {"tenants.default.maxHourlySeries", {"1", series}},
        {"tenants.default.maxDailySeries", {"1", series}},
        {"tenants.default.maxActiveSeries", {"1", series}},
        {"tenants.overrides",
         {"{a: {maxHourlySeries: 1}}", "{$name$: {}, $a name$: {maxHourlySeries: " + series + ", maxDailySeries: " +
                                           series + ", onLimit: reject}, $b name$: {onLimit: drop}}"}},
        {"tenants.maxTenants", {"1", some}},
        {"limits",
         {"[{name: a, maxHourlySeries: 1}]",
          "[{name: a-1, match: up, onLimit: drop}, {name: b.2, perTenant: true, maxDailySeries: " + series + "}]",
          R"([{name: c_3, match: '{a=~"x|y.+",b!="''"}', each: [b, $text$], maxGroups: $1-1000$, maxHourlySeries: )" +
              series +
              ", mode: observe, onLimit: reject, perTenant: true, overrides: [{group: {$again$: up, b: ''}}, {group: "
              "{b: x, $again$: "
              "$text$}, maxDailySeries: " +
              series + "}]}]"}},
        {"exempt",
         {"[up]",
          R"(['{a="b"}', '{"my.metric","my.label"="x"}', '{a=~"x|y.+",b!="''"}', '{a="\n\\\""}', 'x{a!~"2.."}'])"}},
        {"maxExemptSeries", {"7", series}},
        {"maxIgnoredValues", {"7", series}},
        {"wholeHistograms", {"true"}},
        {"maxHistogramSeries", {"50", "$1-1000$"}},
        {"histogramMargin", {"0.5%", percents}},
        {"marker", {"true"}},
        {"shared.url",
         {"redis://valkey:7000/2", "redis://valkey", "'rediss://[::1]:7000/0'", "'unix:///run/$$$${A} x.sock?db=2'"}},
        {"shared.namespace", {"shop", "Shop_1.a-b"}},
        {"shared.username", {"gate", "$it's#text$"}},
        {"shared.passwordFile", {"/password", one_file}},
        {"shared.sentinel.master", {"mymaster", "main'"}},
        {"shared.sentinel.addresses", {"[sentinel-1]", "['[::1]:$1-9$', sentinel.test]"}},
        {"shared.cluster", {"true"}},
        {"shared.tls", tls},
        {"shared.timeout", {"1s", "$1-10000$ms"}},
        {"shared.onUnavailable", {"admit", "refuse"}},
        {"shared.reserve", {"2.5%", percents}},
        {"warmStart.url", {"http://store:9090/prometheus", "https://store.test"}},
        {"warmStart.match", {"['{job=\"a\"}']"}},
        {"warmStart.lookback", {"2h", "$60-86400$s"}},
        {"warmStart.timeout", {"1m", "$1000-3600000$ms"}},
        {"warmStart.tenants", {"[a, b]"}},
        {"warmStart.tls", tls},
        {"warmStart.basicAuth", {"{username: a, passwordFile: /b}", basic}},
        {"warmStart.bearerTokenFile", {"/token", one_file}},
        {"warmStart.headers", {"{X-A: '<secret>'}", two_headers}},
        {"state.dir", {"/state", one_file}},
        {"state.interval", {"1s", "$100-3600000$ms"}},
        {"log.format", {"json"}},
        {"log.level", {"warn", "debug", "error"}},
        {"server.maxRequestBytes", {"1MiB", some}},
        {"server.maxDecodedBytes", {"64MiB", "$40000000-400000000$"}},
        {"server.maxInflightBytes", {"1GiB", "$1000000000-1099511627776$"}},
        {"server.maxHeaderBytes", {"8KiB", "$1024-65536$"}},
        {"server.maxConnections", {"1", some}},
        {"server.maxConnectionsPerPeer", {"1", some}},
        {"server.maxHandshakes", {"1", some}},
        {"server.threads", {"1", "$1-1024$"}},
        {"server.maxQueueDelay", {"2s", "$10-3600000$ms"}},
        {"server.handshakeTimeout", {"1s", up_to_an_hour}},
        {"server.headerTimeout", {"1s", up_to_an_hour}},
        {"server.readTimeout", {"1s", up_to_an_hour}},
        {"server.writeTimeout", {"1s", up_to_an_hour}},
        {"server.idleTimeout", {"1s", "$1-86400000$ms"}},
        {"server.drainTimeout", {"1s", up_to_an_hour}},
        {"server.hosts", {"[gate.example.org]"}},
        {"server.proxyProtocol", {"true"}},
        {"server.trustedProxies", {"[10.0.0.5, 'fd00::/8']", "['::1', 10.1.0.0/16]"}},
        {"server.takeoverSocket", {"/run/takeover", one_file}},
    };
    return all;
}

inline const std::string& other_value(std::string_view key) {
    return possible_values().at(key).front();
}

/// Whether a key says where the upstream is, so that nothing else need.
inline bool is_upstream(std::string_view key) {
    return key == "upstream.url" || key == "upstream.urls";
}

/// A file with these values: `a.b` stands in the section `a`.
inline std::string yaml_of(const values_of_keys& values) {
    std::string text;
    std::string_view before;
    for (const auto& [key, value] : values) {
        std::string indent;
        std::size_t begin = 0;
        for (auto dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', begin)) {
            if (!before.starts_with(key.substr(0, dot + 1)))  // a section comes once
                text.append(indent).append(key.substr(begin, dot - begin)).append(":\n");
            indent += "  ";
            begin = dot + 1;
        }
        text.append(indent).append(key.substr(begin)).append(": ").append(value).append("\n");
        before = key;
    }
    return text;
}

/// Keys that have to stand beside one with its other value, or it is an error.
inline std::vector<std::string_view> needed_beside(std::string_view key) {
    if (key == "maxActiveSeries" || key == "tenants.default.maxActiveSeries") return {"seriesSet"};
    if (key == "server.proxyProtocol") return {"server.trustedProxies"};
    if (key == "shared.url") return {"fingerprint.secretFile", "seriesSet"};
    if (key == "shared.sentinel.master") return {"shared.sentinel.addresses", "fingerprint.secretFile", "seriesSet"};
    return {};
}

/// A file with the other value of a key, and of those that it needs.
inline std::string yaml_of_other(std::string_view key) {
    values_of_keys values{{key, other_value(key)}};
    for (const std::string_view each : needed_beside(key)) values.emplace(each, other_value(each));
    return yaml_of(values);
}

}  // namespace seriesgate::testing
