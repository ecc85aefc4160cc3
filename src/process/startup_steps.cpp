#include "process/startup_steps.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include "base/log.hpp"
#include "config/version.hpp"
#include "core/text.hpp"
#include "limit/explain.hpp"
#include "process/takeover_protocol.hpp"
#include "series/label.hpp"
#include "upstream/backend_client.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {
namespace {

/// Per file; --check-config prints all.
constexpr std::size_t logged_warnings_max = 10;

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? readable(name.data()) : "unknown";
}

/// Inherited listeners that are still configured; the rest close with the old process.
std::vector<given_socket> fitting(std::vector<given_socket> given, const config& settings) {
    std::erase_if(given, [&](const given_socket& one) {
        const stream_endpoint bound = one.at.socket.local_endpoint();
        const auto& admin = settings.admin_listen;
        return one.name == admin_socket_name ? !admin || !fits(bound, *admin) : !fits(bound, settings.listen);
    });
    return given;
}

inherited_listeners take_listeners(const config& settings, takeover_client from) {
    inherited_listeners made;
    made.at = assign_sockets(fitting(from.ask_for_sockets(), settings), settings.listen, settings.admin_listen);
    // Opens the missing ones before the takeover: an address in use must not cost any request.
    if (!made.at.gate) made.at.gate = listen_on(settings.listen);
    if (settings.admin_listen && !made.at.admin) made.at.admin = listen_on(*settings.admin_listen);
    raise_descriptor_limit();  // before connections come
    from.take();
    made.before = std::move(from);
    return made;
}

constexpr std::size_t names_max = 5;
constexpr std::string_view no_limit = "no limit";

std::string series_max(std::uint64_t configured) {
    return configured == 0 ? std::string{no_limit} : std::to_string(configured);
}

std::string in_words(const series_maxima& maxima) {
    std::string text;
    for (const auto& [maximum, unit] :
         {std::pair{maxima.hourly, "an hour"}, {maxima.daily, "a day"}, {maxima.active, "active"}})
        if (maximum != 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", maximum, unit);
    return text;
}

std::string state_of(const config& settings) {
    if (settings.shared.has_store()) return "in the shared store";
    const state_config& state = settings.state;
    return state.dir.empty() ? "none: a restart forgets all series" : state.dir;
}

}  // namespace

result<std::unique_ptr<tls_files>, std::string> load_sender_tls(const web_tls_config& from) {
    const tls_settings settings{.role = tls_role::server,
                                .clients = from.client_auth,
                                .client_names = from.client_allowed_sans,
                                .oldest = from.version_min,
                                .newest = from.version_max,
                                .cipher_suites = from.cipher_suites,
                                .curves = from.curves,
                                .server_preference = from.server_preference};
    return tls_files::load(settings,
                           {.certificates = from.cert_file, .key = from.key_file, .authorities = from.client_ca_file});
}

void note_certificate(http_metrics& metrics, const tls_files& in_use) {
    const auto end = not_after_of(*in_use.current());
    metrics.certificate_not_after.set(end ? std::chrono::system_clock::to_time_t(*end) : 0);
}

load_outcome read_settings(const command_line& asked, bool is_running) {
    load_outcome loaded = load_config(asked.config_file, asked.flags);
    if (!loaded.ok()) return loaded;
    const auto note = [&](const std::string& file, std::string key, std::string fault) {
        (is_running ? loaded.warnings : loaded.errors)
            .push_back({file, std::move(key), std::move(fault), is_running ? severity::warning : severity::error});
    };
    if (loaded.value.web.tls)
        if (const auto tls = load_sender_tls(*loaded.value.web.tls); !tls)
            note(loaded.value.web_config_file, "tls_server_config", tls.error());
    for (std::string& fault : faults_of_files(loaded.value)) note(asked.config_file.value_or(""), "", std::move(fault));
    return loaded;
}

void log_warnings(const load_outcome& loaded) {
    const auto& all = loaded.warnings;
    for (std::size_t i = 0; i < std::min(all.size(), logged_warnings_max); ++i)
        log::warn("doubtful configuration",
                  {{"where", all[i].where}, {"key", all[i].key}, {"warning", all[i].message}});
    if (all.size() > logged_warnings_max)
        log::warn("doubtful configuration, --check-config prints all warnings",
                  {{"more_warnings", all.size() - logged_warnings_max}});
}

std::string gate_name(const listen_address& listens) {
    if (!listens.unix_path.empty()) return host_name() + ":" + readable(listens.unix_path);
    if (listens.port == 0) return fmt::format("{}:pid-{}", host_name(), getpid());
    return fmt::format("{}:{}", host_name(), listens.port);
}

inherited_listeners find_listeners(const config& settings, bool takes_over) {
    auto given = take_activated_sockets();
    const bool is_activated = !given.empty();
    if (takes_over) {
        if (is_activated) throw std::runtime_error("--takeover: the service manager has given sockets already");
        auto running = takeover_client::of_gate_at(takeover_path(settings));
        if (running) return take_listeners(settings, std::move(*running));
        log::info("no gate listens at the takeover socket, so none is taken over", {{"path", takeover_path(settings)}});
    }
    return {.at = assign_sockets(std::move(given), settings.listen, settings.admin_listen),
            .is_activated = is_activated,
            .before = {}};
}

bool writes_markers(const config& settings) {
    return settings.marker && !settings.upstream.discard;
}

descriptor_use descriptors_besides(const config& settings) {
    const std::size_t workers = worker_count(settings.server);
    const std::size_t markers = writes_markers(settings) ? 1 : 0;  // one thread with its own connections
    const std::size_t backends = count_backends(settings.upstream);
    return {.workers = workers + markers,
            .idle_upstream_max = connection_pool::idle_max * backends,
            .upstream_max = share_of_connections(settings.upstream, workers) * workers * backends + markers * backends,
            .has_replicas = !settings.upstream.replicas.empty(),
            .admin_connections = settings.admin_listen ? admin_bounds.total : 0};
}

connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others) {
    const std::uint64_t descriptors = raise_descriptor_limit();
    const std::size_t fit = connections_that_fit(descriptors, others);
    if (settings.connections_max > fit)
        log::warn("server.maxConnections is lowered, the process may have too few descriptors",
                  {{"configured", settings.connections_max}, {"max_connections", fit}, {"descriptors", descriptors}});
    return {.total = std::min<std::size_t>(settings.connections_max, fit),
            .per_peer = settings.connections_per_peer_max,
            .handshakes = settings.handshakes_max};
}

std::string authentication_in_words(const web_config& web) {
    const bool by_certificate = web.tls && web.tls->verifies_clients();
    std::string ways;
    const auto add = [&ways](bool is_asked, std::string_view way) {
        if (is_asked) ways.append(ways.empty() ? "" : ", ").append(way);
    };
    add(!web.basic_auth_users.empty(), "users");
    add(!web.bearer_tokens.empty(), "tokens");
    add(by_certificate, "certificates");
    return ways.empty() ? "none" : ways;
}

std::string in_words(const tenant_limits& tenants) {
    std::string text =
        tenants.fallback.limit() ? fmt::format("each {}", in_words(tenants.fallback)) : std::string{no_limit};
    if (!tenants.overrides.empty()) text.append("; ").append(counted(tenants.overrides.size(), "override"));
    if (tenants.mode == limit_mode::observe) text += "; observe";
    return text;
}

std::string in_words(const std::vector<label_limit>& limits) {
    if (limits.empty()) return "none";
    std::string text = fmt::format("{}: ", limits.size());
    for (std::size_t i = 0; i < std::min(limits.size(), names_max); ++i) {
        text.append(i == 0 ? "" : ", ").append(limits[i].name);
        if (limits[i].mode == limit_mode::observe) text += " (observe)";
    }
    if (limits.size() > names_max) text += fmt::format(" and {} more", limits.size() - names_max);
    return text;
}

void log_start(const config& settings, const listening_at& where, std::size_t threads, std::string_view config_file) {
    const limit_rules& rules = settings.rules;
    log::info("seriesgate is up",
              {{"version", version()},
               {"listen", where.senders},
               {"admin_listen", where.admin_server},
               {"tls", settings.web.tls ? "yes" : "no"},
               {"authentication", authentication_in_words(settings.web)},
               {"upstream", shown_url(settings.upstream)},
               {"protocol", settings.upstream.protocol == upstream_protocol::v1 ? "v1" : "passthrough"},
               {"mode", to_text(rules.mode)},
               {"max_hourly_series", series_max(rules.global.hourly)},
               {"max_daily_series", series_max(rules.global.daily)},
               {"max_active_series", series_max(rules.global.active)},
               {"tenants", in_words(rules.tenants)},
               {"limits", in_words(rules.limits)},
               {"state", state_of(settings)},
               {"threads", threads},
               {"config_file", config_file.empty() ? "none" : config_file}});
}

}  // namespace seriesgate
