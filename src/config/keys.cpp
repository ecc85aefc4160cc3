#include "config/keys.hpp"

#include <re2/re2.h>

#include <set>

#include "config/endpoint.hpp"
#include "config/scalars.hpp"
#include "core/sender_address.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

using key_effect::at_reload;
using key_effect::at_restart;

constexpr range<std::uint64_t> connection_counts{1, 1'000'000};
constexpr range<std::chrono::milliseconds> timeouts{1ms, 1h};
// Below 2 GiB, the most a protobuf message may have.
constexpr range<std::uint64_t> body_sizes{1, 1ull << 30};
/// Of a limit; what is not held back has the other half.
constexpr percentage half{5'000};

// The way to most members.
constexpr auto upstream = &config::upstream;
constexpr auto store = &upstream_config::store;
constexpr auto rules = &config::rules;
constexpr auto global = &limit_rules::global;
constexpr auto tenants = &limit_rules::tenants;
constexpr auto fallback = &tenant_limits::fallback;
constexpr auto shared = &config::shared;
constexpr auto shared_store = &shared_config::store;
constexpr auto state = &config::state;
constexpr auto server = &config::server;
constexpr auto logging = &config::log;
constexpr auto warm_start = &config::warm_start;
constexpr auto warm_store = &warm_start_config::store;

template <typename Path, typename T>
config_key key(const char* name, key_effect effect, Path path, const value_type<T>& type, const char* help,
               const char* example = "", const char* flag = "") {
    return {{name, path, type, help, example}, effect, flag};
}

value_type<listen_address> addresses() {
    return scalar_type<listen_address>(described("address", "port 0 to 65535, or `unix:/path`", R"("type":"string")"),
                                       parse_listen, [](const listen_address& value) { return shown(value); });
}

value_type<std::optional<listen_address>> optional_addresses() {
    return scalar_type<std::optional<listen_address>>(
        described("address", "the same; empty: that of `listen`", R"("type":"string")"), parse_admin_listen,
        [](const std::optional<listen_address>& value) { return value ? shown(*value) : std::string{}; });
}

/// The one backend that upstream.url says, or those that upstream.urls does; none if the other one says it.
std::vector<store_backend> backends_of(const config& from, bool is_one) {
    const std::vector<store_backend>& all = from.upstream.store.backends;
    return (all.size() == 1) == is_one ? all : std::vector<store_backend>{};
}

config_key upstream_url() {
    const auto type = scalar_type<upstream_config>(
        described("URL", "`http[s]://host[:port]/path[?query]` or `discard:`; required unless there are `urls`",
                  R"j("type":"string","pattern":"^(https?://|discard:$)")j"),
        parse_upstream_url, shown_url);
    config_key made = key("upstream.url", at_restart, in<upstream>{}, type,
                          "Where accepted samples go; `discard:` counts and forwards nothing.",
                          "\"http://127.0.0.1:8428/api/v1/write\"", "URL");
    made.show = [](const config& from) {
        const bool says = from.upstream.discard || !backends_of(from, true).empty();
        return says ? YAML::Node(shown_url(from.upstream)) : YAML::Node{};
    };
    made.same = [](const config& one, const config& other) {
        return one.upstream.discard == other.upstream.discard && backends_of(one, true) == backends_of(other, true);
    };
    return made;
}

config_key upstream_urls() {
    const auto type = store_urls();
    config_key made = key("upstream.urls", at_restart, in<upstream, store, &store_config::backends>{}, type,
                          "Several equal backends of one store, in place of `url`.",
                          "[\"http://store-1:8428/api/v1/write\", \"http://store-2:8428/api/v1/write\"]");
    made.about.type.bounds += ", not with `url`";
    made.read = [](const config_node& at, config& target) {
        read_store_urls(at, target.upstream.discard, target.upstream.store.backends);
    };
    made.show = [type](const config& from) { return type.show(backends_of(from, false)); };
    made.same = [](const config& one, const config& other) {
        return backends_of(one, false) == backends_of(other, false);
    };
    return made;
}

value_type<std::string> tenant_paths() {
    return texts("path", "with one `{tenant}` or `{account}`", [](std::string_view text) -> std::string {
        static const re2::RE2 form{R"((?:/[\w.~:-]+)*/\{(?:tenant|account)\}(?:/[\w.~:-]+)*)"};
        if (text.empty() || re2::RE2::FullMatch({text.data(), text.size()}, form)) return "";
        return in_quotes(text) +
               " is not a path with {tenant} or {account} in the place of one segment, such as "
               "/insert/{account}/prometheus/api/v1/write";
    });
}

value_type<std::string> query_arguments() {
    return texts("query argument", "", [](std::string_view text) -> std::string {
        if (text.empty()) return "is empty, expected the name of a query argument";
        return text.find_first_of("&=") != std::string_view::npos ? in_quotes(text) + " is more than a name" : "";
    });
}

value_type<std::string> hosts() {
    return texts_by("host", "", [](std::string_view text, std::string& target) -> std::string {
        constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]";
        const std::string host = in_lower_case(text);
        if (host.empty() || host.size() > 300 || host.find_first_not_of(characters) != std::string::npos)
            return in_quotes(text) + " is no host as browsers write it: a name, or name:port";
        target = host;
        return "";
    });
}

value_type<ip_network> networks() {
    return scalar_type<ip_network>(
        described("IP address or network", "", R"("type":"string")"),
        [](std::string_view text, ip_network& target) -> std::string {
            const auto read = parse_ip_network(text);
            if (!read)
                return in_quotes(text) +
                       " is no IP address or network, such as 10.0.0.5, 10.1.0.0/16 or fd00::/8 (no bits after the "
                       "prefix)";
            target = *read;
            return "";
        },
        [](const ip_network& value) { return value.to_string(); });
}

value_type<std::string> namespaces() {
    constexpr std::size_t bytes_max = 64;
    return texts("text", "1 to 64 letters, digits, `_`, `.` and `-`", [](std::string_view text) -> std::string {
        constexpr std::string_view characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
        if (text.empty()) return "is empty, expected a name such as default";
        if (text.size() > bytes_max)
            return "has " + std::to_string(text.size()) + " characters, at most " + std::to_string(bytes_max) +
                   " are possible";
        if (text.find_first_not_of(characters) == std::string_view::npos) return "";
        return in_quotes(text) + " has other characters than letters, digits, '_', '.' and '-'";
    });
}

value_type<std::string> query_tenants() {
    return texts("tenant", "", [](std::string_view text) -> std::string {
        if (text.empty()) return "is empty, expected the name of a tenant";
        return wrong_with_header_value(text);
    });
}

value_type<host_port> sentinel_addresses() {
    return scalar_type<host_port>(
        described("`host[:port]`", "", R"("type":"string")"), parse_sentinel_address,
        [](const host_port& value) { return shown({.host = value.host, .port = value.port, .unix_path = {}}); });
}

value_type<std::vector<std::string>> label_lists(std::size_t count_max) {
    return list_type<std::vector<std::string>>("list of label names", label_names(), count_max);
}

value_type<std::string> redis_urls() {
    return scalar_type<std::string>(
        described("URL", "`redis[s]://host[:port][/database]` or `unix:///path[?db=n]`; needs `fingerprint.secretFile`",
                  R"j("type":"string","pattern":"^($|rediss?://|unix://)")j"),
        [](std::string_view text, std::string& target) {
            redis_config store;
            std::string wrong = text.empty() ? "" : parse_redis_url(text, store);
            if (wrong.empty()) target = text;
            return wrong;
        },
        std::identity{});
}

/// The example file says it behind a '#': to write its default is not the same as to leave it out.
config_key absent_in_example(config_key made) {
    made.differs_when_absent = true;
    return made;
}

config_key tenant_answer() {
    config_key made = key("tenants.onLimit", at_reload, in<rules, tenants, &tenant_limits::answer>{}, answers(),
                          "What senders of tenants without an answer of their own are told; absent: as `onLimit`.");
    made.same_as = "onLimit";
    made.differs_when_absent = true;
    return made;
}

config_key overrides_of_tenants() {
    config_key made = key("tenants.overrides", at_reload, in<rules, tenants>{}, tenant_overrides(),
                          "What single tenants may have; a key that is left out is as in `tenants.default`.",
                          "{team-a: {maxHourlySeries: 500000}}");
    made.same = [](const config& one, const config& other) {
        return one.rules.tenants.overrides == other.rules.tenants.overrides &&
               one.rules.tenants.answers == other.rules.tenants.answers;
    };
    return made;
}

constexpr auto hourly = &series_maxima::hourly;
constexpr auto daily = &series_maxima::daily;
constexpr auto active = &series_maxima::active;

std::vector<config_key> listen_keys() {
    return {
        key("listen", at_restart, in<&config::listen>{}, addresses(),
            "Address to serve on, such as `0.0.0.0:9201`, `:9201` or `unix:/path`.", "0.0.0.0:9201", "ADDR"),
        key("admin.listen", at_restart, in<&config::admin_listen>{}, optional_addresses(),
            "Another address for all that is not ingestion: health, metrics, stats, reload.", "127.0.0.1:9202", "ADDR"),
        key("web.config.file", at_restart, in<&config::web_config_file>{}, paths(),
            "TLS and authentication of the listener, in the form of Prometheus' web configuration file.",
            "/etc/seriesgate/web.yml", "FILE"),
    };
}

std::vector<config_key> upstream_keys() {
    return {
        upstream_url(),
        upstream_urls(),
        key("upstream.timeout", at_restart, in<upstream, &upstream_config::timeout>{}, durations(timeouts),
            "How long the store may take to answer; keep it below the senders' timeout (Prometheus: 30s)."),
        key("upstream.connectTimeout", at_restart, in<upstream, &upstream_config::connect_timeout>{},
            durations(timeouts), "How long one of its addresses may take to accept a connection, within that."),
        key("upstream.protocol", at_restart, in<upstream, &upstream_config::protocol>{},
            one_of<upstream_protocol>("protocol",
                                      {{"passthrough", upstream_protocol::passthrough}, {"v1", upstream_protocol::v1}}),
            "`v1` translates version 2 of remote write for stores such as VictoriaMetrics, which know only version 1."),
        key("upstream.hostHeader", at_restart, in<upstream, &upstream_config::host_header>{},
            one_of<upstream_host>("host policy", {{"url", upstream_host::url}, {"sender", upstream_host::sender}}),
            "The Host header that the store gets: that of the URL, or the one that the sender asked for."),
        key("upstream.forwardQuery", at_restart, in<upstream, &upstream_config::forward_query>{},
            list_type<std::set<std::string, std::less<>>>("list of query arguments", query_arguments(), 64),
            "Names of the arguments of a sender's query string that go on to the store.", "[extra_label]"),
        key("upstream.tls", at_restart, in<upstream, store, &store_config::tls>{}, store_tls(),
            "TLS towards `https://` URLs; PEM files are read again when they change.",
            "{caFile: /etc/seriesgate/ca.pem}"),
        key("upstream.basicAuth", at_restart, in<upstream, store, &store_config::basic_auth>{}, basic_auth(),
            "The gate's credentials at the store, in place of what senders bring.",
            "{username: gate, passwordFile: /etc/seriesgate/password}"),
        key("upstream.bearerTokenFile", at_restart, in<upstream, store, &store_config::bearer_token_file>{}, paths(),
            "The same with a token: `Authorization: Bearer` and what the file holds.", "/etc/seriesgate/token"),
        key("upstream.headers", at_restart, in<upstream, store, &store_config::headers>{}, store_headers(),
            "Headers of every request, in place of the sender's of the same name; their values are secret.",
            "{X-Store: metrics}"),
        key("upstream.maxConnections", at_restart, in<upstream, &upstream_config::connections_max>{},
            counts(connection_counts), "Connections to all backends of all stores together."),
        key("upstream.replicateTo", at_restart, in<upstream, &upstream_config::replicas>{}, replica_lists(),
            "Further stores that get the same.", "[{url: \"http://other:8428/api/v1/write\", bestEffort: true}]"),
    };
}

std::vector<config_key> series_keys() {
    return {
        key("maxHourlySeries", at_reload, in<rules, global, hourly>{}, series_counts(),
            "New series admitted in one hour (UTC); 0: counted, not limited.", "1000000", "N"),
        key("maxDailySeries", at_reload, in<rules, global, daily>{}, series_counts(),
            "New series admitted in one day (UTC); 0: counted, not limited.", "5000000", "N"),
        key("maxActiveSeries", at_reload, in<rules, global, active>{}, series_counts(),
            "Series that are active at once; needs `seriesSet: exact`, an error with `shared`; 0: not limited.",
            "1000000"),
        key("activeWindow", at_reload, in<rules, &limit_rules::active_window>{}, whole_minutes({1min, 24h}),
            "How long after its last sample a series is active; a stale marker ends that at once.", "10m"),
        key("falsePositiveRate", at_reload, in<rules, &limit_rules::false_positive_rate>{}, rates({1e-9, 0.5}),
            "Share of refused series that may slip through; `0.0001` costs about 3 bytes a series and window."),
        absent_in_example(
            key("seriesSet", at_restart, in<&config::series_set>{},
                one_of<set_kind>("kind", {{"bloom", set_kind::bloom}, {"exact", set_kind::exact}}),
                "How series are remembered: `bloom` filters, or an `exact` table, which lets none slip and takes more "
                "memory. With `shared` always `exact`.")),
        key("ignoreLabels", at_restart, in<&config::ignore_labels>{}, label_lists(64),
            "Labels that do not make another series, such as the one that tells two equal Prometheus apart.",
            "[prometheus_replica]"),
        key("maxIgnoredValues", at_reload, in<rules, &limit_rules::ignored_values_max>{}, series_counts(),
            "Different values of these labels that a tenant may send; further ones make another series."),
        key("topLabels", at_restart, in<&config::top_labels>{}, label_lists(8),
            "Labels whose values `/api/v1/top` counts by new and refused series.", "[job, namespace, instance]"),
        key("fingerprint.secretFile", at_restart, in<&config::secret_file>{}, paths(),
            "File with 32 bytes to 64 KiB that gates of a fleet have in common; empty: a secret of this gate's own.",
            "/etc/seriesgate/secret"),
        key("incumbentGrace", at_reload, in<rules, &limit_rules::incumbent_grace>{}, whole_seconds({0ms, 1h}),
            "How long after the hour's start room is kept for series of the hour before; 0: not at all.", "10m"),
        key("mode", at_reload, in<rules, &limit_rules::mode>{}, modes(),
            "`observe` counts what limits would refuse, and refuses nothing."),
        key("onLimit", at_reload, in<rules, tenants, &tenant_limits::answer>{}, answers(),
            "What senders of refused series are told: `drop` nothing, `reject` an error."),
        // Whoever sets 400 is not warned of what vmagents make of it.
        absent_in_example(
            key("rejectStatus", at_restart, in<&config::reject_status>{},
                one_of<unsigned>("status", {{"400", 400}, {"409", 409}, {"429", 429}}),
                "The status of that error; on 400 a vmagent changes from zstd to snappy, on 409 it does not.")),
    };
}

std::vector<config_key> tenant_keys() {
    return {
        key("tenants.header", at_restart, in<&config::tenant_header>{},
            texts("header name", "none that a proxy keeps to itself", wrong_with_tenant_header),
            "The header that names the tenant."),
        key("tenants.path", at_restart, in<&config::tenant_path>{}, tenant_paths(),
            "A path that names the tenant, such as `/insert/{account}/prometheus/api/v1/write`."),
        key("tenants.mode", at_reload, in<rules, tenants, &tenant_limits::mode>{}, modes(),
            "`observe` refuses nothing by the limits of tenants."),
        tenant_answer(),
        key("tenants.default.maxHourlySeries", at_reload, in<rules, tenants, fallback, hourly>{}, series_counts(),
            "New series of each tenant in one hour; 0: counted, not limited.", "100000"),
        key("tenants.default.maxDailySeries", at_reload, in<rules, tenants, fallback, daily>{}, series_counts(),
            "New series of each tenant in one day; 0: counted, not limited."),
        key("tenants.default.maxActiveSeries", at_reload, in<rules, tenants, fallback, active>{}, series_counts(),
            "Series of each tenant that are active at once; 0: not limited."),
        overrides_of_tenants(),
        key("tenants.maxTenants", at_reload, in<rules, tenants, &tenant_limits::tenants_max>{}, budget_counts(),
            "Tenants without an override beyond these share one budget, `__overflow__`."),
    };
}

std::vector<config_key> limit_keys() {
    return {
        key("limits", at_reload, in<rules, &limit_rules::limits>{}, limit_lists(),
            "Budgets for what a selector matches; a new series needs room in all that match it.",
            "[{name: per-job, each: [job], maxHourlySeries: 20000}]"),
        key("exempt", at_reload, in<rules, &limit_rules::exempt>{},
            list_type<std::vector<selector>>("list of selectors", selectors(), 64, nullptr),
            "Series that are admitted whatever else is spent, and counted apart.", "['{__name__=~\"up|ALERTS.*\"}']"),
        key("maxExemptSeries", at_reload, in<rules, &limit_rules::exempt_series_max>{}, series_counts(),
            "Exempt series of each tenant in an hour and in a day; further ones need room like others."),
        key("wholeHistograms", at_reload, in<rules, &limit_rules::whole_histograms>{}, flags(),
            "`true`: a classic histogram that has begun is completed, and one that was refused is refused whole."),
        key("maxHistogramSeries", at_reload, in<rules, &limit_rules::histogram_series_max>{}, counts({1, 1'000}),
            "With it: series of one histogram that are admitted over a limit in one window."),
        key("histogramMargin", at_reload, in<rules, &limit_rules::histogram_margin>{}, percentages(half),
            "With it: how far all histograms together may exceed a limit."),
        key("marker", at_restart, in<&config::marker>{}, flags(),
            "`true`: the stores get a series that says where a limit withholds data."),
    };
}

std::vector<config_key> store_keys() {
    return {
        key("shared.url", at_restart, in<shared, &shared_config::url>{}, redis_urls(),
            "The Valkey or Redis that gates share their limits through; empty: this gate counts alone.",
            "\"redis://valkey:6379/0\"", "URL"),
        key("shared.namespace", at_restart, in<shared, &shared_config::name_space>{}, namespaces(),
            "Gates of one namespace count together."),
        key("shared.username", at_restart, in<shared, shared_store, &redis_config::username>{}, words(),
            "The gate's name at that store; needs `shared.passwordFile`; empty: the default user."),
        key("shared.passwordFile", at_restart, in<shared, shared_store, &redis_config::password_file>{}, paths(),
            "File with the password in one line."),
        key("shared.sentinel.master", at_restart, in<shared, shared_store, &redis_config::sentinel_master>{}, words(),
            "The name by which sentinels know the master; needs `shared.sentinel.addresses`.", "mymaster"),
        key("shared.sentinel.addresses", at_restart, in<shared, shared_store, &redis_config::sentinel_addresses>{},
            list_type<std::vector<host_port>>("list of `host[:port]`", sentinel_addresses(), 16),
            "Sentinels that know the master, in place of the host in `shared.url`.",
            "[sentinel-1, sentinel-2, sentinel-3]"),
        key("shared.cluster", at_restart, in<shared, shared_store, &redis_config::cluster>{}, flags(),
            "`true`: the store is a cluster, and the URL names one of its nodes."),
        key("shared.tls", at_restart, in<shared, shared_store, &redis_config::tls_files>{}, store_tls(),
            "TLS towards `rediss://` URLs, as `upstream.tls`.", "{caFile: /etc/seriesgate/ca.pem}"),
        key("shared.timeout", at_restart, in<shared, shared_store, &redis_config::timeout>{}, durations({1ms, 10s}),
            "How long a request waits for that store at most."),
        key("shared.onUnavailable", at_restart, in<shared, &shared_config::on_unavailable>{},
            one_of<unavailable_answer>("word", {{"local", unavailable_answer::local},
                                                {"refuse", unavailable_answer::refuse},
                                                {"admit", unavailable_answer::admit}}),
            "What new series get without the store: `local` this gate's part of the room, `refuse` none, `admit` all."),
        absent_in_example(key("shared.reserve", at_restart, in<shared, &shared_config::reserve>{}, percentages(half),
                              "Not used any more: nothing is held back.")),
    };
}

value_type<std::vector<store_backend>> query_urls() {
    return scalar_type<std::vector<store_backend>>(described("URL", "`http[s]://host[:port][/path]`; empty: none",
                                                             R"j("type":"string","pattern":"^($|https?://)")j"),
                                                   assign_query_url, [](const std::vector<store_backend>& from) {
                                                       return from.empty() ? std::string{}
                                                                           : without_secrets(from.front().url.reveal());
                                                   });
}

std::vector<config_key> warm_start_keys() {
    return {
        key("warmStart.url", at_restart, in<warm_start, warm_store, &store_config::backends>{}, query_urls(),
            "The root of a store's query API; a gate that knows no series admits those that it has.",
            "\"http://127.0.0.1:8428\""),
        key("warmStart.match", at_restart, in<warm_start, &warm_start_config::match>{},
            list_type<std::vector<selector>>("list of selectors", selectors(), 16, nullptr),
            "Which series; empty: all that have a metric name.", "['{job=~\".+\"}']"),
        key("warmStart.lookback", at_restart, in<warm_start, &warm_start_config::lookback>{},
            whole_seconds({1min, 24h}),
            "Series with a sample within this time; those that were there before it come first.", "1h"),
        key("warmStart.timeout", at_restart, in<warm_start, &warm_start_config::timeout>{}, durations({1s, 1h}),
            "How long it may take; until its end nothing is refused, and no new series is counted."),
        key("warmStart.tenants", at_restart, in<warm_start, &warm_start_config::tenants>{},
            list_type<std::vector<std::string>>("list of tenants", query_tenants(), 1'000),
            "Tenants to ask for, in `tenants.header` or in the URL's `{tenant}`; empty: the store knows none.",
            "[team-a, team-b]"),
        key("warmStart.tls", at_restart, in<warm_start, warm_store, &store_config::tls>{}, store_tls(),
            "As `upstream.tls`.", "{caFile: /etc/seriesgate/ca.pem}"),
        key("warmStart.basicAuth", at_restart, in<warm_start, warm_store, &store_config::basic_auth>{}, basic_auth(),
            "As `upstream.basicAuth`.", "{username: gate, passwordFile: /etc/seriesgate/password}"),
        key("warmStart.bearerTokenFile", at_restart, in<warm_start, warm_store, &store_config::bearer_token_file>{},
            paths(), "As `upstream.bearerTokenFile`.", "/etc/seriesgate/token"),
        key("warmStart.headers", at_restart, in<warm_start, warm_store, &store_config::headers>{}, store_headers(),
            "As `upstream.headers`.", "{X-Store: metrics}"),
    };
}

std::vector<config_key> state_and_log_keys() {
    return {
        key("state.dir", at_restart, in<state, &state_config::dir>{}, paths(),
            "Where counts and known series are kept over a restart; empty: nowhere.", "/var/lib/seriesgate"),
        key("state.interval", at_restart, in<state, &state_config::interval>{}, durations({100ms, 1h}),
            "How long from one write to the next; a crash forgets this and the time of one write, SIGTERM nothing."),
        key("log.format", at_reload, in<logging, &log_config::format>{},
            one_of<log::format>("log format", {{"logfmt", log::format::logfmt}, {"json", log::format::json}}),
            "How events are written on stderr, one a line.", "json"),
        key("log.level", at_reload, in<logging, &log_config::level>{},
            one_of<log::level>("log level", {{"debug", log::level::debug},
                                             {"info", log::level::info},
                                             {"warn", log::level::warn},
                                             {"error", log::level::error}}),
            "Nothing below this level is written."),
    };
}

std::vector<config_key> server_keys() {
    return {
        key("server.maxRequestBytes", at_restart, in<server, &server_config::body_bytes_max>{}, sizes(body_sizes),
            "One request body as sent; at most `server.maxDecodedBytes`."),
        key("server.maxDecodedBytes", at_restart, in<server, &server_config::decoded_bytes_max>{}, sizes(body_sizes),
            "One request body, decompressed."),
        key("server.maxInflightBytes", at_restart, in<server, &server_config::inflight_bytes_max>{},
            sizes({1, 1ull << 40}),
            "All requests in flight together, at least the two above; beyond it senders get 503 and try again."),
        // As much as fits into the buffer that headers are read into.
        key("server.maxHeaderBytes", at_restart, in<server, &server_config::header_bytes_max>{},
            sizes({1 << 10, 64 << 10}), "The header of one request."),
        key("server.maxConnections", at_restart, in<server, &server_config::connections_max>{},
            counts(connection_counts), "Open connections from senders; beyond it idle ones make room."),
        key("server.maxConnectionsPerPeer", at_restart, in<server, &server_config::connections_per_peer_max>{},
            counts({0, 1'000'000}), "Open connections from one address; 0: no bound of its own."),
        key("server.maxHandshakes", at_restart, in<server, &server_config::handshakes_max>{}, counts(connection_counts),
            "TLS handshakes in progress; beyond it the oldest makes room."),
        key("server.threads", at_restart, in<server, &server_config::threads>{}, counts({0, 1024}),
            "Worker threads; 0: one per core.", "4"),
        key("server.maxQueueDelay", at_restart, in<server, &server_config::queue_delay_max>{}, durations({10ms, 1h}),
            "How late a worker may be with received requests before it turns new ones away (503)."),
        key("server.handshakeTimeout", at_restart, in<server, &server_config::handshake_timeout>{}, durations(timeouts),
            "For a TLS handshake, from the connection's arrival."),
        key("server.headerTimeout", at_restart, in<server, &server_config::header_timeout>{}, durations(timeouts),
            "From the first byte of a request to the end of its header."),
        key("server.readTimeout", at_restart, in<server, &server_config::read_timeout>{}, durations(timeouts),
            "From the first byte of a request to its last."),
        key("server.writeTimeout", at_restart, in<server, &server_config::write_timeout>{}, durations(timeouts),
            "For the sender to read its answer."),
        key("server.idleTimeout", at_restart, in<server, &server_config::idle_timeout>{}, durations({1ms, 24h}),
            "For a connection between two requests."),
        key("server.drainTimeout", at_restart, in<server, &server_config::drain_timeout>{}, durations(timeouts),
            "From SIGTERM to the end of the last request, at most; saving the state comes after."),
        key("server.hosts", at_restart, in<server, &server_config::hosts>{},
            list_type<std::vector<std::string>>("list of hosts, `name` or `name:port`", hosts(), 64),
            "Names by which browsers may ask, such as that of a proxy; with any, they may use no other.",
            "[gate.example.org]"),
        key("server.proxyProtocol", at_restart, in<server, &server_config::proxy_protocol>{}, flags(),
            "Whether connections to `listen` from `server.trustedProxies` begin with a PROXY protocol header, 1 or 2."),
        key("server.trustedProxies", at_restart, in<server, &server_config::trusted_proxies>{},
            list_type<std::vector<ip_network>>("list of IP addresses and networks", networks(), 64),
            "Whom to believe about the sender: PROXY protocol, `X-Forwarded-For`, `Forwarded`.",
            "[10.0.0.5, 10.1.0.0/16, 'fd00::/8']"),
        key("server.takeoverSocket", at_restart, in<server, &server_config::takeover_socket>{}, paths(),
            "Where a gate that is started with `--takeover` asks this one; empty: `takeover` in `state.dir`."),
    };
}

std::vector<config_key> make_keys() {
    std::vector<config_key> all;
    for (const auto part : {listen_keys, upstream_keys, series_keys, tenant_keys, limit_keys, store_keys,
                            warm_start_keys, state_and_log_keys, server_keys})
        for (config_key& each : part()) all.push_back(std::move(each));
    return all;
}

}  // namespace

std::span<const config_key> config_keys() {
    static const std::vector<config_key> keys = make_keys();
    return keys;
}

}  // namespace seriesgate
