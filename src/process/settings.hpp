/// The configuration that a gate starts with.
#pragma once

#include <memory>
#include <string>

#include "config/command_line.hpp"
#include "config/config.hpp"
#include "config/load.hpp"
#include "core/result.hpp"
#include "http/http_metrics.hpp"
#include "net/tls_files.hpp"

namespace seriesgate {

// --- The TLS that senders meet.

/// Reads certificate, key and authorities of the web configuration file. @return why not, with the name of the file.
[[nodiscard]] result<std::unique_ptr<tls_files>, std::string> load_sender_tls(const web_tls_config& from);

/// What is wrong with those files; empty if nothing is, or there are none.
[[nodiscard]] std::string fault_of_sender_tls(const config& settings);

/// When the certificate in use ends.
void note_certificate(http_metrics& metrics, const tls_files& in_use);

/// The configuration, and what is wrong with the files that it names: all that keeps a gate from serving, but for what
/// the operating system refuses it. A reload reads the configuration alone. Threads: any.
[[nodiscard]] load_outcome read_settings(const command_line& asked);

// --- What the log says of a configuration that is allowed and surely not meant.

/// One line for each warning; of very many the first.
void log_warnings(const load_outcome& loaded);

// --- What this gate is called among others.

/// Another one for each gate: two on one host have two addresses. One that takes any free port is known by its process.
/// For people: valid UTF-8, without control characters.
std::string gate_name(const listen_address& listens);

}  // namespace seriesgate
