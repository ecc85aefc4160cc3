// The table of keys: what each is called, where its value goes, what it may be.
#include <array>

#include "config/config.hpp"
#include "config/endpoint.hpp"
#include "config/rule_keys.hpp"
#include "config/scalars.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr range<unsigned> thread_counts{0, 1024};
constexpr range<std::uint64_t> connection_counts{1, 1'000'000};
constexpr range<std::uint64_t> connection_counts_per_peer{0, 1'000'000};
constexpr range<double> rates{1e-9, 0.5};
constexpr range<std::chrono::milliseconds> graces{0ms, 1h};
constexpr range<std::chrono::milliseconds> timeouts{1ms, 1h};
constexpr range<std::chrono::milliseconds> idle_timeouts{1ms, 24h};
constexpr range<std::chrono::milliseconds> snapshot_intervals{100ms, 1h};
// Below 2 GiB, the most a protobuf message may have.
constexpr range<std::uint64_t> body_sizes{1, 1ull << 30};
constexpr range<std::uint64_t> inflight_sizes{1, 1ull << 40};

constexpr std::array keys{
    config_key{"listen", "ADDR", "address to serve on, such as 0.0.0.0:9201 or :9201",
               [](std::string_view text, config& target) { return parse_listen(text, target.listen); }},
    config_key{"upstream.url", "URL", "where accepted samples go: http://host:port/path, or discard: to only count",
               [](std::string_view text, config& target) { return parse_upstream_url(text, target.upstream); }},
    config_key{
        "upstream.timeout", "", "",
        [](std::string_view text, config& target) { return assign_duration(text, timeouts, target.upstream.timeout); }},
    config_key{"upstream.protocol", "", "",
               [](std::string_view text, config& target) { return assign_protocol(text, target.upstream.protocol); }},
    config_key{
        "upstream.hostHeader", "", "",
        [](std::string_view text, config& target) { return assign_host_header(text, target.upstream.host_header); }},
    config_key{"upstream.forwardQuery", "", "", nullptr, read_forward_query},
    config_key{"maxHourlySeries", "N", "new series admitted in one hour (UTC); 0: no limit",
               [](std::string_view text, config& target) {
                   return assign_count(text, series_counts, target.rules.global.hourly);
               }},
    config_key{"maxDailySeries", "N", "new series admitted in one day (UTC); 0: no limit",
               [](std::string_view text, config& target) {
                   return assign_count(text, series_counts, target.rules.global.daily);
               }},
    config_key{"falsePositiveRate", "", "",
               [](std::string_view text, config& target) {
                   return assign_rate(text, rates, target.rules.false_positive_rate);
               }},
    config_key{"ignoreLabels", "", "", nullptr, read_ignore_labels},
    config_key{"fingerprint.secretFile", "", "",
               [](std::string_view text, config& target) { return assign_path(text, target.secret_file); }},
    config_key{"incumbentGrace", "", "",
               [](std::string_view text, config& target) {
                   return assign_seconds(text, graces, target.rules.incumbent_grace);
               }},
    config_key{"mode", "", "",
               [](std::string_view text, config& target) { return assign_mode(text, target.rules.mode); }},
    config_key{"onLimit", "", "",  // unless tenants.onLimit, which comes later, says something else
               [](std::string_view text, config& target) { return assign_answer(text, target.rules.tenants.answer); }},
    config_key{"rejectStatus", "", "",
               [](std::string_view text, config& target) { return assign_reject_status(text, target.reject_status); }},
    config_key{"tenants.header", "", "",
               [](std::string_view text, config& target) { return assign_tenant_header(text, target.tenant_header); }},
    config_key{"tenants.mode", "", "",
               [](std::string_view text, config& target) { return assign_mode(text, target.rules.tenants.mode); }},
    config_key{"tenants.onLimit", "", "",
               [](std::string_view text, config& target) { return assign_answer(text, target.rules.tenants.answer); }},
    config_key{"tenants.default.maxHourlySeries", "", "",
               [](std::string_view text, config& target) {
                   return assign_count(text, series_counts, target.rules.tenants.fallback.hourly);
               }},
    config_key{"tenants.default.maxDailySeries", "", "",
               [](std::string_view text, config& target) {
                   return assign_count(text, series_counts, target.rules.tenants.fallback.daily);
               }},
    config_key{"tenants.overrides", "", "", nullptr, read_tenant_overrides},
    config_key{"tenants.maxTenants", "", "",
               [](std::string_view text, config& target) {
                   return assign_count(text, budget_counts, target.rules.tenants.tenants_max);
               }},
    config_key{"limits", "", "", nullptr, read_limits},
    config_key{"exempt", "", "", nullptr, read_exempt},
    config_key{"wholeHistograms", "", "",
               [](std::string_view text, config& target) { return assign_flag(text, target.rules.whole_histograms); }},
    config_key{"state.dir", "", "",
               [](std::string_view text, config& target) { return assign_path(text, target.state.dir); }},
    config_key{"state.interval", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, snapshot_intervals, target.state.interval);
               }},
    config_key{"server.maxRequestBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, body_sizes, target.server.body_bytes_max);
               }},
    config_key{"server.maxDecodedBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, body_sizes, target.server.decoded_bytes_max);
               }},
    config_key{"server.maxInflightBytes", "", "",
               [](std::string_view text, config& target) {
                   return assign_size(text, inflight_sizes, target.server.inflight_bytes_max);
               }},
    config_key{"server.maxConnections", "", "",
               [](std::string_view text, config& target) {
                   return assign_count(text, connection_counts, target.server.connections_max);
               }},
    config_key{"server.maxConnectionsPerPeer", "", "",
               [](std::string_view text, config& target) {
                   return assign_count(text, connection_counts_per_peer, target.server.connections_per_peer_max);
               }},
    config_key{
        "server.threads", "", "",
        [](std::string_view text, config& target) { return assign_count(text, thread_counts, target.server.threads); }},
    config_key{"server.readTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, timeouts, target.server.read_timeout);
               }},
    config_key{"server.idleTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, idle_timeouts, target.server.idle_timeout);
               }},
    config_key{"server.drainTimeout", "", "",
               [](std::string_view text, config& target) {
                   return assign_duration(text, timeouts, target.server.drain_timeout);
               }},
};

}  // namespace

std::span<const config_key> config_keys() noexcept {
    return keys;
}

}  // namespace seriesgate
