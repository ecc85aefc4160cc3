/// Reads the configuration for a start, and checks the files that it names.
#pragma once

#include <memory>
#include <string>

#include "config/command_line.hpp"
#include "config/config.hpp"
#include "config/load.hpp"
#include "core/result.hpp"
#include "http/http_metrics.hpp"
#include "net/tls_context.hpp"

namespace seriesgate {

/// Loads certificate, key and authorities. @return the error, with the file's name.
[[nodiscard]] result<std::unique_ptr<tls_files>, std::string> load_sender_tls(const web_tls_config& from);

/// Sets the metric of the certificate's end.
void note_certificate(http_metrics& metrics, const tls_files& in_use);

/// Reads the configuration and its files. Finds all that prevents serving, except refusals by the system. Threads: any.
[[nodiscard]] load_outcome read_settings(const command_line& asked);

/// Logs the first warnings, one line each: settings that are allowed, but probably a mistake.
void log_warnings(const load_outcome& loaded);

/// This gate's name in its fleet: host and address, so distinct on one host. With port 0 it contains the process
/// number. Valid UTF-8 without control characters.
std::string gate_name(const listen_address& listens);

}  // namespace seriesgate
