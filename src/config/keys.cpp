#include "config/keys.hpp"

#include "config/endpoint.hpp"
#include "config/member_path.hpp"
#include "config/rule_keys.hpp"
#include "config/scalars.hpp"
#include "config/shared_keys.hpp"
#include "config/shown.hpp"
#include "config/store_keys.hpp"
#include "config/yaml_text.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr range<unsigned> thread_counts{0, 1024};
constexpr range<std::uint64_t> connection_counts{1, 1'000'000};
constexpr range<std::uint64_t> connection_counts_per_peer{0, 1'000'000};
constexpr range<std::uint64_t> histogram_counts{1, 1'000};
constexpr range<double> rates{1e-9, 0.5};
/// Of a limit; what is not held back has the other half.
constexpr percentage half{5'000};
constexpr range<std::chrono::milliseconds> graces{0ms, 1h};
constexpr range<std::chrono::milliseconds> timeouts{1ms, 1h};
constexpr range<std::chrono::milliseconds> idle_timeouts{1ms, 24h};
constexpr range<std::chrono::milliseconds> queue_delays{10ms, 1h};
constexpr range<std::chrono::milliseconds> snapshot_intervals{100ms, 1h};
constexpr range<std::chrono::milliseconds> claim_timeouts{1ms, 10s};
// Below 2 GiB, the most a protobuf message may have.
constexpr range<std::uint64_t> body_sizes{1, 1ull << 30};
constexpr range<std::uint64_t> inflight_sizes{1, 1ull << 40};
// As much as fits into the buffer that headers are read into.
constexpr range<std::uint64_t> header_sizes{1 << 10, 64 << 10};

using key_effect::at_reload;
using key_effect::at_restart;

// The way to most members.
constexpr auto upstream = &config::upstream;
constexpr auto rules = &config::rules;
constexpr auto global = &limit_rules::global;
constexpr auto tenants = &limit_rules::tenants;
constexpr auto fallback = &tenant_limits::fallback;
constexpr auto hourly = &series_maxima::hourly;
constexpr auto daily = &series_maxima::daily;
constexpr auto shared = &config::shared;
constexpr auto shared_store = &shared_config::store;
constexpr auto state = &config::state;
constexpr auto server = &config::server;
constexpr auto logging = &config::log;

template <auto... path>
bool same(const config& one, const config& other) {
    return member<path...>(one) == member<path...>(other);
}

template <auto... path>
yaml_value show(const config& from) {
    return yaml_scalar(shown(member<path...>(from)));
}

template <auto... path>
yaml_value show_size(const config& from) {
    return yaml_scalar(shown_size(member<path...>(from)));
}

/// One value, which `assign` reads into the member at the end of `path`.
template <auto assign, auto... path>
constexpr key_access one{
    .same = same<path...>, .show = show<path...>, .assign = [](std::string_view text, config& target) {
        return assign(text, member<path...>(target));
    }};

/// The same with bounds.
template <auto assign, const auto& bounds, auto... path>
constexpr key_access within{
    .same = same<path...>, .show = show<path...>, .assign = [](std::string_view text, config& target) {
        return assign(text, bounds, member<path...>(target));
    }};

template <const auto& bounds, auto... path>
constexpr key_access size{
    .same = same<path...>, .show = show_size<path...>, .assign = within<assign_size, bounds, path...>.assign};

/// Lists and maps, which `read_into` knows where to put, and `shown_from` where from. @param path of a member that
/// holds them all.
template <auto read_into, auto shown_from, auto... path>
constexpr key_access many{.same = same<path...>, .show = shown_from, .read = read_into};

template <const auto& bounds, auto... path>
constexpr key_access number = within<assign_count<std::uint64_t>, bounds, path...>;

template <auto... path>
constexpr key_access series = one<assign_series_count, path...>;

bool same_tenant_overrides(const config& one, const config& other) {
    const tenant_limits& first = one.rules.tenants;
    const tenant_limits& second = other.rules.tenants;
    return first.overrides == second.overrides && first.answers == second.answers;
}

/// That upstream.url says where the store is, and not upstream.urls.
bool has_url(const config& from) {
    return from.upstream.discard || from.upstream.store.backends.size() == 1;
}

bool same_backends(const config& one, const config& other) {
    return one.upstream.discard == other.upstream.discard &&
           one.upstream.store.backends == other.upstream.store.backends;
}

bool same_url(const config& one, const config& other) {
    return has_url(one) == has_url(other) && (!has_url(one) || same_backends(one, other));
}

bool same_urls(const config& one, const config& other) {
    return has_url(one) == has_url(other) && (has_url(one) || same_backends(one, other));
}

yaml_value show_url(const config& from) {
    return has_url(from) ? yaml_scalar(shown_url(from.upstream)) : yaml_value{};
}

yaml_value show_urls(const config& from) {
    return has_url(from) ? yaml_list({}) : show_backends(from.upstream.store.backends);
}

yaml_value show_text(const std::string& text) {
    return yaml_scalar(text);
}

/// What is said of the first store, read by `read_into` and shown by `shown_from`.
template <auto read_into, auto shown_from, auto part>
constexpr key_access of_store{
    .same = same<upstream, &upstream_config::store, part>,
    .show = [](const config& from) { return shown_from(from.upstream.store.*part); },
    .read = [](const placed_value& at, config& target) { read_into(at, target.upstream.store); }};

constexpr config_key keys[]{
    {"listen",
     at_restart,
     one<parse_listen, &config::listen>,
     {"ADDR", "address to serve on, such as 0.0.0.0:9201 or :9201"}},
    {"admin.listen",
     at_restart,
     one<parse_admin_listen, &config::admin, &admin_config::listen>,
     {"ADDR", "another address for all that is not ingestion: health, metrics, stats, reload"}},
    {"web.config.file",
     at_restart,
     one<assign_path, &config::web_config_file>,
     {"FILE", "TLS and authentication of the listener, in the form of Prometheus' web configuration file"}},
    // What else is made of the URL follows from its text.
    {"upstream.url",
     at_restart,
     {.same = same_url,
      .show = show_url,
      .assign = [](std::string_view text, config& target) { return parse_upstream_url(text, target.upstream); }},
     {"URL", "where accepted samples go: http[s]://host:port/path, or discard: to only count"}},
    {"upstream.urls", at_restart, {.same = same_urls, .show = show_urls, .read = read_upstream_backends}},
    {"upstream.timeout", at_restart, within<assign_duration, timeouts, upstream, &upstream_config::timeout>},
    {"upstream.connectTimeout", at_restart,
     within<assign_duration, timeouts, upstream, &upstream_config::connect_timeout>},
    {"upstream.protocol", at_restart, one<assign_protocol, upstream, &upstream_config::protocol>},
    {"upstream.hostHeader", at_restart, one<assign_host_header, upstream, &upstream_config::host_header>},
    {"upstream.forwardQuery", at_restart,
     many<read_forward_query, show_forward_query, upstream, &upstream_config::forward_query>},
    {"upstream.tls", at_restart, of_store<read_store_tls, show_store_tls, &store_config::tls>},
    {"upstream.basicAuth", at_restart, of_store<read_basic_auth, show_basic_auth, &store_config::basic_auth>},
    {"upstream.bearerTokenFile", at_restart,
     of_store<read_bearer_token_file, show_text, &store_config::bearer_token_file>},
    {"upstream.headers", at_restart, of_store<read_store_headers, show_store_headers, &store_config::headers>},
    {"upstream.maxConnections", at_restart, number<connection_counts, upstream, &upstream_config::connections_max>},
    {"upstream.replicateTo",
     at_restart,
     {.same = same<upstream, &upstream_config::replicas>,
      .show = [](const config& from) { return show_replicas(from.upstream.replicas); },
      .read = read_replicas}},
    {"maxHourlySeries",
     at_reload,
     series<rules, global, hourly>,
     {"N", "new series admitted in one hour (UTC); 0: no limit"}},
    {"maxDailySeries",
     at_reload,
     series<rules, global, daily>,
     {"N", "new series admitted in one day (UTC); 0: no limit"}},
    {"falsePositiveRate", at_reload, within<assign_rate, rates, rules, &limit_rules::false_positive_rate>},
    {"ignoreLabels", at_restart, many<read_ignore_labels, show_ignore_labels, &config::ignore_labels>},
    {"maxIgnoredValues", at_reload, number<series_counts, rules, &limit_rules::ignored_values_max>},
    {"topLabels", at_restart, many<read_top_labels, show_top_labels, &config::top_labels>},
    {"fingerprint.secretFile", at_restart, one<assign_path, &config::secret_file>},
    {"incumbentGrace", at_reload, within<assign_seconds, graces, rules, &limit_rules::incumbent_grace>},
    {"mode", at_reload, one<assign_mode, rules, &limit_rules::mode>},
    // Unless tenants.onLimit, which comes later, says something else.
    {"onLimit", at_reload, one<assign_answer, rules, tenants, &tenant_limits::answer>},
    {"rejectStatus", at_restart, one<assign_reject_status, &config::reject_status>},
    {"tenants.header", at_restart, one<assign_tenant_header, &config::tenant_header>},
    {"tenants.path", at_restart, one<assign_tenant_path, &config::tenant_path>},
    {"tenants.mode", at_reload, one<assign_mode, rules, tenants, &tenant_limits::mode>},
    {"tenants.onLimit", at_reload, one<assign_answer, rules, tenants, &tenant_limits::answer>, {}, "onLimit"},
    {"tenants.default.maxHourlySeries", at_reload, series<rules, tenants, fallback, hourly>},
    {"tenants.default.maxDailySeries", at_reload, series<rules, tenants, fallback, daily>},
    {"tenants.overrides",
     at_reload,
     {.same = same_tenant_overrides, .show = show_tenant_overrides, .read = read_tenant_overrides}},
    {"tenants.maxTenants", at_reload, number<budget_counts, rules, tenants, &tenant_limits::tenants_max>},
    {"limits", at_reload, many<read_limits, show_limits, rules, &limit_rules::limits>},
    {"exempt", at_reload, many<read_exempt, show_exempt, rules, &limit_rules::exempt>},
    {"maxExemptSeries", at_reload, number<series_counts, rules, &limit_rules::exempt_series_max>},
    {"wholeHistograms", at_reload, one<assign_flag, rules, &limit_rules::whole_histograms>},
    {"maxHistogramSeries", at_reload, number<histogram_counts, rules, &limit_rules::histogram_series_max>},
    {"histogramMargin", at_reload, within<assign_percentage, half, rules, &limit_rules::histogram_margin>},
    {"marker", at_restart, one<assign_flag, &config::marker>},
    // What else is made of the URL follows from its text.
    {"shared.url",
     at_restart,
     {.same = same<shared, &shared_config::url>,
      .show = show<shared, &shared_config::url>,
      .assign = [](std::string_view text, config& target) { return assign_shared_url(text, target.shared); }},
     {"URL", "the Valkey or Redis that gates share their limits through: redis[s]://host:port/db"}},
    {"shared.namespace", at_restart, one<assign_namespace, shared, &shared_config::name_space>},
    {"shared.username", at_restart, one<assign_store_user, shared, shared_store, &redis_config::username>},
    {"shared.passwordFile", at_restart, one<assign_path, shared, shared_store, &redis_config::password_file>},
    {"shared.sentinel.master", at_restart,
     one<assign_sentinel_master, shared, shared_store, &redis_config::sentinel_master>},
    {"shared.sentinel.addresses", at_restart,
     many<read_sentinel_addresses, show_sentinel_addresses, shared, shared_store, &redis_config::sentinel_addresses>},
    {"shared.cluster", at_restart, one<assign_flag, shared, shared_store, &redis_config::cluster>},
    {"shared.tls", at_restart, many<read_shared_tls, show_shared_tls, shared, shared_store, &redis_config::tls_files>},
    {"shared.timeout", at_restart,
     within<assign_duration, claim_timeouts, shared, shared_store, &redis_config::timeout>},
    {"shared.onUnavailable", at_restart, one<assign_unavailable, shared, &shared_config::on_unavailable>},
    {"shared.reserve", at_restart, within<assign_percentage, half, shared, &shared_config::reserve>},
    {"state.dir", at_restart, one<assign_path, state, &state_config::dir>},
    {"state.interval", at_restart, within<assign_duration, snapshot_intervals, state, &state_config::interval>},
    {"log.format", at_reload, one<assign_log_format, logging, &log_config::format>},
    {"log.level", at_reload, one<assign_log_level, logging, &log_config::level>},
    {"server.maxRequestBytes", at_restart, size<body_sizes, server, &server_config::body_bytes_max>},
    {"server.maxDecodedBytes", at_restart, size<body_sizes, server, &server_config::decoded_bytes_max>},
    {"server.maxInflightBytes", at_restart, size<inflight_sizes, server, &server_config::inflight_bytes_max>},
    {"server.maxHeaderBytes", at_restart, size<header_sizes, server, &server_config::header_bytes_max>},
    {"server.maxConnections", at_restart, number<connection_counts, server, &server_config::connections_max>},
    {"server.maxConnectionsPerPeer", at_restart,
     number<connection_counts_per_peer, server, &server_config::connections_per_peer_max>},
    {"server.maxHandshakes", at_restart, number<connection_counts, server, &server_config::handshakes_max>},
    {"server.threads", at_restart, within<assign_count<unsigned>, thread_counts, server, &server_config::threads>},
    {"server.maxQueueDelay", at_restart,
     within<assign_duration, queue_delays, server, &server_config::queue_delay_max>},
    {"server.handshakeTimeout", at_restart,
     within<assign_duration, timeouts, server, &server_config::handshake_timeout>},
    {"server.headerTimeout", at_restart, within<assign_duration, timeouts, server, &server_config::header_timeout>},
    {"server.readTimeout", at_restart, within<assign_duration, timeouts, server, &server_config::read_timeout>},
    {"server.writeTimeout", at_restart, within<assign_duration, timeouts, server, &server_config::write_timeout>},
    {"server.idleTimeout", at_restart, within<assign_duration, idle_timeouts, server, &server_config::idle_timeout>},
    {"server.drainTimeout", at_restart, within<assign_duration, timeouts, server, &server_config::drain_timeout>},
    {"server.hosts", at_restart, many<read_hosts, show_hosts, server, &server_config::hosts>},
    {"server.takeoverSocket", at_restart, one<assign_path, server, &server_config::takeover_socket>},
};

constexpr bool names_differ(std::span<const config_key> all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (all[j].name == all[i].name) return false;
    return true;
}
static_assert(names_differ(keys));

}  // namespace

std::span<const config_key> config_keys() noexcept {
    return keys;
}

}  // namespace seriesgate
