#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "config/redis_config.hpp"
#include "core/secret_text.hpp"
#include "core/sender_address.hpp"
#include "core/tls_words.hpp"
#include "limit/rules.hpp"

/// What the process is told to do: plain values, checked once at the start, never changed after.
/// Every key is described in docs/configuration.md and stands with its default in config/seriesgate.yaml.
namespace seriesgate {

// --- The web configuration file, in Prometheus' form: who may ask, and by what TLS.
// Source: prometheus/exporter-toolkit, docs/web-configuration.md.

/// How the listeners speak TLS. Paths are as they are to be opened.
struct web_tls_config {
    std::string cert_file;
    std::string key_file;
    client_certificates client_auth = client_certificates::none;
    std::string client_ca_file;  ///< empty unless clients' certificates are verified
    std::vector<std::string> client_allowed_sans;
    tls_version version_min = tls_version::v1_2;
    tls_version version_max = tls_version::v1_3;
    std::vector<std::string> cipher_suites;  ///< IANA's names, of both versions; empty: OpenSSL's own choice
    std::vector<std::string> curves;         ///< Go's names, likewise
    bool server_preference = true;           ///< of cipher suites

    bool operator==(const web_tls_config&) const = default;

    /// Whether a certificate that a client shows proves who it is.
    [[nodiscard]] bool verifies_clients() const noexcept {
        return client_auth == client_certificates::verify_if_given ||
               client_auth == client_certificates::require_and_verify;
    }
};

/// A token and the name of who has it. One name may have several, so that one can take another's place.
struct bearer_token {
    std::string name;
    std::string token_file;
    secret_text token{};  ///< what stands in the file; empty: nobody has it

    bool operator==(const bearer_token&) const = default;
};

using user_names = std::set<std::string, std::less<>>;

/// The file. As it is by default it asks nothing of anyone.
struct web_config {
    std::optional<web_tls_config> tls;
    std::vector<std::pair<std::string, std::string>> answer_headers;  ///< of every answer

    std::map<std::string, secret_text, std::less<>> basic_auth_users;  ///< name to bcrypt hash
    std::vector<bearer_token> bearer_tokens;
    std::optional<user_names> ingestion_users;                ///< who may write; none: whoever is let in
    std::optional<user_names> admin_users;                    ///< who may use the other endpoints, likewise
    std::map<std::string, std::string, std::less<>> tenants;  ///< user to the only tenant that it writes for
    std::set<std::string, std::less<>> auth_excluded_paths;   ///< that anyone may ask for

    bool operator==(const web_config&) const = default;

    /// Whether a request has to bring an Authorization header of ours.
    [[nodiscard]] bool has_users() const noexcept { return !basic_auth_users.empty() || !bearer_tokens.empty(); }
};

// --- The configuration.

struct listen_address {
    std::string host = "0.0.0.0";  ///< IPv4 or IPv6 address (without brackets) or a name
    std::uint16_t port = 9201;     ///< 0: any free port
    std::string unix_path{};       ///< of a unix socket, in place of host and port

    bool operator==(const listen_address&) const = default;
};

/// In which version of remote write the upstream gets what comes in version 2.
enum class upstream_protocol : std::uint8_t {
    passthrough,  ///< in the sender's
    v1,           ///< translated, for a store that knows no other
};

/// The Host header that the upstream gets.
enum class upstream_host : std::uint8_t {
    url,     ///< the host of upstream.url
    sender,  ///< the one that the sender asked for
};

/// One address of a store: an URL taken apart.
struct store_backend {
    secret_text url{};        ///< as written; the rest is read from it
    bool tls = false;         ///< https
    std::string host{};       ///< IPv4 or IPv6 address (without brackets) or a name
    std::uint16_t port = 0;   ///< 80, or 443 with TLS, when the URL names none
    secret_text target{};     ///< path and query as they go into the request line; starts with '/', may hold one '?'.
                              ///< The path may have a mark for the tenant, see core/path_tenant.hpp
    std::string authority{};  ///< the Host header: as in the URL

    bool operator==(const store_backend&) const = default;
};

struct basic_auth_config {
    std::string username;  ///< empty: none
    std::string password_file;

    bool operator==(const basic_auth_config&) const = default;
};

/// One store: its addresses, and what each request to it says of us.
struct store_config {
    std::vector<store_backend> backends;  ///< equal ones; empty with `discard:`
    store_tls_config tls;                 ///< for those with https
    basic_auth_config basic_auth;
    std::string bearer_token_file;  ///< empty: none
    std::map<std::string, secret_text, std::less<>> headers;

    bool operator==(const store_config&) const = default;
};

/// A second store, which gets what the first one gets.
struct replica_config {
    store_config store;
    bool best_effort = false;  ///< nobody waits for it

    bool operator==(const replica_config&) const = default;
};

struct upstream_config {
    store_config store;
    std::vector<replica_config> replicas;
    std::uint64_t connections_max = 1024;  ///< maxConnections: to all backends of all stores, idle ones included
    bool discard = false;                  ///< `discard:`: accept and count, forward nothing
    std::chrono::milliseconds timeout = std::chrono::seconds{25};         ///< request sent to answer read
    std::chrono::milliseconds connect_timeout = std::chrono::seconds{5};  ///< for one address
    upstream_protocol protocol = upstream_protocol::passthrough;
    upstream_host host_header = upstream_host::url;
    std::set<std::string, std::less<>> forward_query;  ///< names of the sender's query arguments that go on, decoded

    bool operator==(const upstream_config&) const = default;
};

struct server_config {
    std::uint64_t body_bytes_max = 32 << 20;                              ///< maxRequestBytes: one body as sent
    std::uint64_t decoded_bytes_max = 128 << 20;                          ///< maxDecodedBytes: the same, decompressed
    std::uint64_t inflight_bytes_max = 512 << 20;                         ///< maxInflightBytes: all requests together
    std::uint64_t header_bytes_max = 64 << 10;                            ///< maxHeaderBytes: of one request
    std::uint64_t connections_max = 8192;                                 ///< maxConnections: from senders
    std::uint64_t connections_per_peer_max = 1024;                        ///< maxConnectionsPerPeer; 0: no own bound
    std::uint64_t handshakes_max = 1024;                                  ///< maxHandshakes: of TLS, at once
    std::uint64_t threads = 0;                                            ///< 0: one per core
    std::chrono::milliseconds queue_delay_max = std::chrono::seconds{1};  ///< of what is ready
    std::chrono::milliseconds handshake_timeout = std::chrono::seconds{10};  ///< a connection's arrival to TLS
    std::chrono::milliseconds header_timeout = std::chrono::seconds{10};     ///< first byte to the header's last
    std::chrono::milliseconds read_timeout = std::chrono::seconds{30};       ///< first byte to last byte of a request
    std::chrono::milliseconds write_timeout = std::chrono::seconds{30};      ///< for the sender to read its answer
    std::chrono::milliseconds idle_timeout = std::chrono::minutes{6};        ///< a connection between requests
    std::chrono::milliseconds drain_timeout = std::chrono::seconds{30};      ///< SIGTERM to the last request
    std::vector<std::string> hosts;           ///< names by which browsers may ask; empty: any
    bool proxy_protocol = false;              ///< connections from trusted_proxies begin with its header
    std::vector<ip_network> trusted_proxies;  ///< believed about whose connection or request it is
    std::string takeover_socket;              ///< where another gate asks for this one's place; empty: in state.dir

    bool operator==(const server_config&) const = default;
};

struct state_config {
    std::string dir;                                                ///< empty: nothing is kept
    std::chrono::milliseconds interval = std::chrono::seconds{10};  ///< from one snapshot to the next

    bool operator==(const state_config&) const = default;
};

struct log_config {
    log::format format = log::format::logfmt;
    log::level level = log::level::info;  ///< nothing below it is said

    bool operator==(const log_config&) const = default;
};

/// What series get that the gate does not know while the store of counts cannot be asked.
enum class unavailable_answer : std::uint8_t {
    local,   ///< this gate's part of the room that was left, see fleet_view::admits_alone
    refuse,  ///< only what is known passes
    admit,   ///< they pass, and are counted later
};

struct shared_config {
    std::string url;     ///< as written; it holds no credentials. Empty: none, or sentinels know where the store is
    redis_config store;  ///< what the URL says, and all else that is said of the store
    std::string name_space = "default";  ///< of keys in the store: gates with one of them share
    unavailable_answer on_unavailable = unavailable_answer::local;
    percentage reserve{500};  ///< not used any more

    /// Whether there is a fleet at all. If not, this gate counts alone, and nothing else here is used.
    [[nodiscard]] bool has_store() const noexcept { return !url.empty() || !store.sentinel_master.empty(); }

    bool operator==(const shared_config&) const = default;
};

/// A new gate learns from a store which series there are already.
struct warm_start_config {
    store_config store;  ///< the root of its query API, one backend; none: no warm start
    std::vector<selector> match;
    std::chrono::seconds lookback = std::chrono::hours{1};
    std::chrono::milliseconds timeout = std::chrono::minutes{5};
    std::vector<std::string> tenants;  ///< asked for one after the other; empty: the store knows no tenants

    [[nodiscard]] bool is_configured() const noexcept { return !store.backends.empty(); }

    bool operator==(const warm_start_config&) const = default;
};

struct config {
    listen_address listen;
    std::optional<listen_address> admin_listen{};  ///< for people, scrapers and probes; nothing: where senders connect
    std::string web_config_file;                   ///< web.config.file; empty: none
    web_config web;                                ///< what stands there
    upstream_config upstream;
    limit_rules rules;                       ///< maxHourlySeries, maxDailySeries, tenants, limits, exempt and the like
    set_kind series_set = set_kind::bloom;   ///< seriesSet
    std::vector<std::string> ignore_labels;  ///< left out of fingerprints
    /// topLabels: their values are counted by how many new and refused series they have.
    std::vector<std::string> top_labels{"job", "namespace", "instance"};
    std::string secret_file;       ///< fingerprint.secretFile; empty: a secret of this gate's own
    shared_config shared;          ///< gates that have one limit
    unsigned reject_status = 400;  ///< 400, 409 or 429
    std::string tenant_header = "X-Scope-OrgID";
    std::string tenant_path;  ///< tenants.path, see core/path_tenant.hpp; empty: none
    bool marker = false;      ///< series are written to the stores that say where data is withheld
    warm_start_config warm_start;
    state_config state;
    server_config server;
    log_config log;

    bool operator==(const config&) const = default;
};

/// When another value of a key takes effect.
enum class key_effect : std::uint8_t {
    at_reload,
    at_restart,  ///< what was made of it at the start cannot be changed while running
};

/// Values as a file has them, for people.
std::string shown(const listen_address& value);
/// Where the first store is, without secrets: upstream.url, or all of upstream.urls with commas.
std::string shown_url(const upstream_config& value);

/// The rules with what the limiter has to know besides.
inline limit_rules limiter_rules(const config& of) {
    limit_rules made = of.rules;
    made.ignores_labels = !of.ignore_labels.empty();
    return made;
}

}  // namespace seriesgate
