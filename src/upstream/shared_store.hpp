/// A store and its backends, shared by all workers; their metric families.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "config/config.hpp"
#include "core/synchronization.hpp"
#include "net/http_fields.hpp"
#include "net/tls_files.hpp"
#include "net/tls_session.hpp"
#include "net/watched_file.hpp"
#include "upstream/circuit_breaker.hpp"
#include "upstream/upstream_health.hpp"

namespace seriesgate {

// --- Access to a store.

/// Our credentials for a store, and TLS. Requests carry configured headers, and an Authorization header made from a
/// file with a password or token. They never appear in logs or answers. Keeps using the last good content of each file.
/// Threads: any.
class store_access {
    struct proof {
        secret_text secret{};
        secret_text authorization{};  // header made from it; empty: none
    };

    const store_config& store_;
    const bool has_authorization_;     // among the configured headers
    const bool has_query_;             // of a backend's URL
    std::mutex reading_;               // one refresh() at a time
    std::optional<secret_file> file_;  // with basicAuth or bearerTokenFile
    published<proof> proof_;
    std::unique_ptr<tls_files> tls_;  // null without https:// backends

  public:
    /// Reads the files. Throws std::runtime_error with one line that names key and file.
    /// @param key of the store, "upstream". @param store must outlive this object.
    store_access(const store_config& store, const std::string& key);

    void refresh(const file_look& look = {});

    /// Sets our headers, replacing the sender's of the same names.
    /// @return whether the request then authenticates us, with no Authorization of the sender left.
    bool put_into(http::fields& request) const;

    /// Whether requests to the store contain secrets of ours, which senders must not see.
    [[nodiscard]] bool has_secrets() const noexcept { return has_query_ || file_ || !store_.headers.empty(); }
    [[nodiscard]] bool has_query() const noexcept { return has_query_; }

    /// Removes our secrets from a text of the store, which may repeat requests.
    [[nodiscard]] std::string without_secrets(std::string_view text) const;

    /// For new connections to https:// backends; null if there are none.
    [[nodiscard]] std::shared_ptr<const tls_context> tls() const { return tls_ ? tls_->current() : nullptr; }

    [[nodiscard]] std::unique_ptr<tls_session> make_session(std::shared_ptr<const tls_context> with,
                                                            const store_backend& backend) const;

  private:
    [[nodiscard]] proof make_proof() const;
};

const store_config& store_at(const upstream_config& of, std::size_t which);
std::string store_key(std::size_t which);

/// Errors of files that the stores need, one line each.
std::vector<std::string> faults_of_files(const config& of);

/// One address of a store. Threads: any.
struct shared_backend {
    const store_backend& at;
    const std::string name;  ///< its authority; numbered if another backend of the store has the same
    const bool is_only;      ///< the store has no other backend
    circuit_breaker health{};
    name_health resolving{};
    throttled_log outages{};                 ///< throttles the lines about its outages
    std::atomic<bool> outage_logged{false};  ///< the log reports the end of an outage only if it reported the beginning
    std::atomic<unsigned> next_address{0};   ///< rotates over its addresses

    gauge in_flight{};  ///< of all workers
    gauge connections{};
    counter requests{};  ///< a request sent twice counts twice
    counter_by<upstream_error_reason> errors{};

    shared_backend(const store_backend& backend, std::string named, bool only)
        : at(backend), name(std::move(named)), is_only(only) {}
};

/// A store: one or several equal backends. Threads: any.
struct shared_store {
    const upstream_config& upstream;
    const store_config& settings;
    upstream_metrics& metrics;
    const std::string name;
    store_access access;
    std::deque<shared_backend> backends{};
    upstream_health health{};
    std::atomic<std::uint64_t> turn{0};
    const std::size_t connections_each_max;  ///< of one worker to one backend
    counter waits{};                         ///< requests that had to wait for a slot
    gauge waiting{};                         ///< requests waiting now

    /// @param which store of `upstream`: 0 is the first one, then the replicas.
    /// @param workers number of workers that share upstream.maxConnections. All arguments must outlive it. Throws as
    /// store_access does.
    shared_store(const upstream_config& upstream, std::size_t which, upstream_metrics& metrics, std::size_t workers);

    /// Why the name of a backend does not resolve, with the name; empty if all do, or no lookup has finished.
    [[nodiscard]] std::string name_fault();
};

[[nodiscard]] std::size_t count_backends(const upstream_config& of);

/// Connections that one worker may have to each backend, at least one. Equal parts of upstream.maxConnections: a slow
/// backend takes none from the others, and workers need not ask each other.
[[nodiscard]] std::size_t share_of_connections(const upstream_config& of, std::size_t workers);

// --- Metric families.

void write_backends(exposition& out, const std::vector<const shared_store*>& stores);

}  // namespace seriesgate
