/// The TLS that senders meet.
#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "core/result.hpp"
#include "http/http_metrics.hpp"
#include "net/tls_files.hpp"

namespace seriesgate {

/// Reads certificate, key and authorities of the web configuration file. @return why not, with the name of the file.
[[nodiscard]] result<std::unique_ptr<tls_files>, std::string> load_sender_tls(const web_tls_config& from);

/// What is wrong with those files; empty if nothing is, or there are none.
[[nodiscard]] std::string fault_of_sender_tls(const config& settings);

/// When the certificate in use ends.
void note_certificate(http_metrics& metrics, const tls_files& in_use);

}  // namespace seriesgate
