/// Steps of the start: reads the settings, finds the listening sockets, computes limits of the system, logs the first
/// line.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/command_line.hpp"
#include "config/config.hpp"
#include "core/result.hpp"
#include "http/connections.hpp"
#include "http/http_metrics.hpp"
#include "net/tls_files.hpp"
#include "process/inherited_sockets.hpp"
#include "process/serving.hpp"
#include "process/takeover_client.hpp"

namespace seriesgate {

// --- Settings, and the files that they name.

/// Loads certificate, key and authorities. @return the error, with the file's name.
[[nodiscard]] result<std::unique_ptr<tls_files>, std::string> load_sender_tls(const web_tls_config& from);

/// Sets the metric of the certificate's end.
void note_certificate(http_metrics& metrics, const tls_files& in_use);

/// Reads the configuration and its files. Finds all that prevents serving, except refusals by the system. Threads: any.
/// @param is_running for a reload: faults in files of TLS and of stores are warnings, since the gate has what they held
/// before.
[[nodiscard]] load_outcome read_settings(const command_line& asked, bool is_running);

/// Logs the first warnings, one line each: settings that are allowed, but probably a mistake.
void log_warnings(const load_outcome& loaded);

/// This gate's name in its fleet: host and address, so distinct on one host. With port 0 it contains the process
/// number. Valid UTF-8 without control characters.
std::string gate_name(const listen_address& listens);

// --- Listening sockets.

struct inherited_listeners {
    given_listeners at;                     ///< missing ones still have to be opened
    bool is_activated = false;              ///< by a service manager, whose sockets outlive this process
    std::optional<takeover_client> before;  ///< the running gate of a takeover; waits until this one serves
};

/// Takes the service manager's sockets, or performs the first half of a takeover: the running gate has saved its state,
/// and this process then has a minute to serve. Throws std::runtime_error with one readable line; then the running gate
/// continues. Threads: call it before starting any.
/// @param takes_over whether to take over. If no gate runs, the log says so.
[[nodiscard]] inherited_listeners find_listeners(const config& settings, bool takes_over);

// --- Bounds of the system, and the first line.

/// Few clients use admin.listen: admins, probes and scrapers.
inline constexpr connection_bounds admin_bounds{.total = 64, .handshakes = 64};

[[nodiscard]] bool writes_markers(const config& settings);

[[nodiscard]] descriptor_use descriptors_besides(const config& settings);

/// The configured bounds, lowered and logged if descriptors do not suffice. Raises the process' soft limit.
[[nodiscard]] connection_bounds connection_bounds_of(const server_config& settings, const descriptor_use& others);

struct listening_at {
    std::string senders;
    std::string admin_server;  ///< may equal `senders`
};

/// Logs the first line. @param config_file empty: none.
void log_start(const config& settings, const listening_at& where, std::size_t threads, std::string_view config_file);

/// The configured kinds of credentials: "users, certificates", or "none".
std::string authentication_in_words(const web_config& web);

/// "each 1000 an hour, 5000 a day; 2 overrides"
std::string in_words(const tenant_limits& tenants);

/// The number and the first names: "2: per-namespace, per-job (observe)"
std::string in_words(const std::vector<label_limit>& limits);

}  // namespace seriesgate
