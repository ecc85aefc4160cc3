/// A change of every key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate::testing {

/// For every key a value that is not its default, as it stands behind the colon.
inline const std::map<std::string_view, std::string> other_values{
    {"listen", "127.0.0.1:9999"},
    {"admin.listen", "unix:/run/admin.sock"},
    {"web.config.file", "/web.yml"},
    {"upstream.url", "http://other:1/write"},
    {"upstream.urls", "[\"http://a:1/write\", \"https://b:1/write\"]"},
    {"upstream.timeout", "1s"},
    {"upstream.connectTimeout", "1s"},
    {"upstream.protocol", "v1"},
    {"upstream.hostHeader", "sender"},
    {"upstream.forwardQuery", "[extra_label]"},
    {"upstream.tls", "{caFile: /ca.pem}"},
    {"upstream.basicAuth", "{username: gate, passwordFile: /password}"},
    {"upstream.bearerTokenFile", "/token"},
    {"upstream.headers", "{X-Store: one}"},
    {"upstream.maxConnections", "1"},
    {"upstream.replicateTo", "[{url: \"http://c:1/write\", bestEffort: true}]"},
    {"maxHourlySeries", "1"},
    {"maxDailySeries", "1"},
    {"maxActiveSeries", "1"},
    {"activeWindow", "5m"},
    {"falsePositiveRate", "0.1"},
    {"seriesSet", "exact"},
    {"ignoreLabels", "[replica]"},
    {"topLabels", "[job, namespace]"},
    {"fingerprint.secretFile", "/secret"},
    {"incumbentGrace", "1m"},
    {"mode", "observe"},
    {"onLimit", "reject"},
    {"rejectStatus", "429"},
    {"tenants.header", "X-Other"},
    {"tenants.path", "\"/insert/{account}/prometheus/api/v1/write\""},
    {"tenants.mode", "observe"},
    {"tenants.onLimit", "reject"},
    {"tenants.default.maxHourlySeries", "1"},
    {"tenants.default.maxDailySeries", "1"},
    {"tenants.default.maxActiveSeries", "1"},
    {"tenants.overrides", "{a: {maxHourlySeries: 1}}"},
    {"tenants.maxTenants", "1"},
    {"limits", "[{name: a, maxHourlySeries: 1}]"},
    {"exempt", "[up]"},
    {"maxExemptSeries", "7"},
    {"maxIgnoredValues", "7"},
    {"wholeHistograms", "true"},
    {"maxHistogramSeries", "50"},
    {"histogramMargin", "0.5%"},
    {"marker", "true"},
    {"shared.url", "redis://valkey:7000/2"},
    {"shared.namespace", "shop"},
    {"shared.username", "gate"},
    {"shared.passwordFile", "/password"},
    {"shared.sentinel.master", "mymaster"},
    {"shared.sentinel.addresses", "[sentinel-1]"},
    {"shared.cluster", "true"},
    {"shared.tls", "{caFile: /ca.pem}"},
    {"shared.timeout", "1s"},
    {"shared.onUnavailable", "admit"},
    {"shared.reserve", "2.5%"},
    {"warmStart.url", "http://store:9090/prometheus"},
    {"warmStart.match", "['{job=\"a\"}']"},
    {"warmStart.lookback", "2h"},
    {"warmStart.timeout", "1m"},
    {"warmStart.tenants", "[a, b]"},
    {"warmStart.tls", "{caFile: /ca.pem}"},
    {"warmStart.basicAuth", "{username: a, passwordFile: /b}"},
    {"warmStart.bearerTokenFile", "/token"},
    {"warmStart.headers", "{X-A: b}"},
    {"state.dir", "/state"},
    {"state.interval", "1s"},
    {"log.format", "json"},
    {"log.level", "warn"},
    {"server.maxRequestBytes", "1MiB"},
    {"server.maxDecodedBytes", "64MiB"},
    {"server.maxInflightBytes", "1GiB"},
    {"server.maxHeaderBytes", "8KiB"},
    {"server.maxConnections", "1"},
    {"server.maxConnectionsPerPeer", "1"},
    {"server.maxHandshakes", "1"},
    {"server.threads", "1"},
    {"server.maxQueueDelay", "2s"},
    {"server.handshakeTimeout", "1s"},
    {"server.headerTimeout", "1s"},
    {"server.readTimeout", "1s"},
    {"server.writeTimeout", "1s"},
    {"server.idleTimeout", "1s"},
    {"server.drainTimeout", "1s"},
    {"server.hosts", "[gate.example.org]"},
    {"server.proxyProtocol", "true"},
    {"server.trustedProxies", "[10.0.0.5, 'fd00::/8']"},
    {"server.takeoverSocket", "/run/takeover"},
};

/// Whether a key says where the upstream is, so that nothing else need.
inline bool is_upstream(std::string_view key) {
    return key == "upstream.url" || key == "upstream.urls";
}

/// `a.b` and `x` as `a: {b: x}`.
inline std::string yaml_of(std::string_view name, const std::string& value) {
    std::string text;
    std::string braces;
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        text.append(name.substr(0, dot)).append(": {");
        braces += '}';
        name.remove_prefix(dot + 1);
    }
    return text.append(name).append(": ").append(value).append(braces).append("\n");
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
    std::string value = other_values.at(key);
    std::string beside;
    for (const std::string_view each : needed_beside(key)) {
        const auto section = key.substr(0, key.rfind('.') + 1);
        if (!section.empty() && each.starts_with(section))  // a section comes once
            value.append(", ").append(each.substr(section.size())).append(": ").append(other_values.at(each));
        else
            beside += yaml_of(each, other_values.at(each));
    }
    return yaml_of(key, value) + beside;
}

}  // namespace seriesgate::testing
