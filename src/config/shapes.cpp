#include "config/shapes.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace seriesgate {
namespace {

struct shape {
    std::string_view key;  ///< without the numbers of items; `*` is a tenant
    std::string_view example;
};

constexpr std::array<shape, 43> shapes{{
    {"listen", "listen: 0.0.0.0:9201"},
    {"admin", "admin: {listen: 127.0.0.1:9202}"},
    {"admin.listen", "listen: 127.0.0.1:9202"},
    {"web", "web: {config: {file: /etc/seriesgate/web.yml}}"},
    {"web.config", "config: {file: /etc/seriesgate/web.yml}"},
    {"upstream", "upstream: {url: \"http://127.0.0.1:8428/api/v1/write\"}"},
    {"upstream.url", "url: http://127.0.0.1:8428/api/v1/write"},
    {"upstream.forwardQuery", "forwardQuery: [extra_label]"},
    {"upstream.urls", "urls: [http://store-1:8428/api/v1/write, http://store-2:8428/api/v1/write]"},
    {"upstream.tls", "tls: {caFile: /etc/seriesgate/ca.pem}"},
    {"upstream.basicAuth", "basicAuth: {username: gate, passwordFile: /etc/seriesgate/password}"},
    {"upstream.bearerTokenFile", "bearerTokenFile: /etc/seriesgate/token"},
    {"upstream.headers", "headers: {X-Store: metrics}"},
    {"upstream.replicateTo", "replicateTo: [{url: \"http://other:8428/api/v1/write\", bestEffort: true}]"},
    {"upstream.replicateTo[]", "- {url: \"http://other:8428/api/v1/write\", bestEffort: true}"},
    {"upstream.replicateTo[].bestEffort", "bestEffort: true"},
    {"maxHourlySeries", "maxHourlySeries: 1000000"},
    {"maxDailySeries", "maxDailySeries: 5000000"},
    {"ignoreLabels", "ignoreLabels: [prometheus_replica]"},
    {"topLabels", "topLabels: [job, namespace, instance]"},
    {"fingerprint", "fingerprint: {secretFile: /etc/seriesgate/secret}"},
    {"incumbentGrace", "incumbentGrace: 10m"},
    {"tenants", "tenants: {default: {maxHourlySeries: 100000}}"},
    {"tenants.default", "default: {maxHourlySeries: 100000}"},
    {"tenants.overrides", "overrides: {team-a: {maxHourlySeries: 500000}}"},
    {"tenants.overrides.*", "team-a: {maxHourlySeries: 500000}"},
    {"limits", "limits: [{name: per-job, each: [job], maxHourlySeries: 20000}]"},
    {"limits[]", "- {name: per-job, each: [job], maxHourlySeries: 20000}"},
    {"limits[].name", "name: per-job"},
    {"limits[].each", "each: [job]"},
    {"limits[].overrides", "overrides: [{group: {job: node}, maxHourlySeries: 200000}]"},
    {"limits[].overrides[]", "- {group: {job: node}, maxHourlySeries: 200000}"},
    {"limits[].overrides[].group", "group: {job: node}"},
    {"exempt", "exempt: ['{__name__=~\"up|ALERTS.*\"}']"},
    {"shared", "shared: {url: \"redis://valkey:6379/0\"}"},
    {"shared.sentinel", "sentinel: {master: mymaster, addresses: [sentinel-1, sentinel-2, sentinel-3]}"},
    {"shared.sentinel.addresses", "addresses: [sentinel-1, sentinel-2, sentinel-3]"},
    {"shared.tls", "tls: {caFile: /etc/seriesgate/ca.pem}"},
    {"state", "state: {dir: /var/lib/seriesgate}"},
    {"state.dir", "dir: /var/lib/seriesgate"},
    {"log", "log: {format: json}"},
    {"server", "server: {threads: 4}"},
    {"server.hosts", "hosts: [gate.example.org]"},
}};

/// `limits[2].overrides[0]` as `limits[].overrides[]`.
std::string without_numbers(std::string_view key) {
    std::string pattern;
    bool in_brackets = false;
    for (const char c : key) {
        if (c == ']') in_brackets = false;
        if (!in_brackets) pattern += c;
        if (c == '[') in_brackets = true;
    }
    return pattern;
}

constexpr std::string_view overrides = "tenants.overrides.";
constexpr std::string_view replica = "upstream.replicateTo[].";

}  // namespace

std::string_view shape_of(std::string_view key) {
    std::string pattern = key.starts_with(overrides) ? std::string{overrides} + "*" : without_numbers(key);
    // Wherever they stand.
    for (const std::string_view count : {".maxHourlySeries", ".maxDailySeries"})
        if (key.ends_with(count)) pattern = count.substr(1);
    if (pattern.starts_with(replica) && pattern != "upstream.replicateTo[].bestEffort")
        pattern.replace(0, replica.size(), "upstream.");  // a store's keys are the same for all
    const auto found = std::ranges::find(shapes, pattern, &shape::key);
    return found == shapes.end() ? std::string_view{} : found->example;
}

}  // namespace seriesgate
