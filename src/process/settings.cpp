#include "process/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include "base/log.hpp"
#include "series/label.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {
namespace {

/// Per file; --check-config prints all.
constexpr std::size_t logged_warnings_max = 10;

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? readable(name.data()) : "unknown";
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
    const auto end = in_use.current()->not_after();
    metrics.certificate_not_after.set(end ? std::chrono::system_clock::to_time_t(*end) : 0);
}

load_outcome read_settings(const command_line& asked) {
    load_outcome loaded = load_config(asked.config_file, asked.flags);
    if (!loaded.ok()) return loaded;
    if (loaded.value.web.tls)
        if (const auto tls = load_sender_tls(*loaded.value.web.tls); !tls)
            loaded.errors.push_back({loaded.value.web_config_file, "tls_server_config", tls.error()});
    for (std::string& fault : faults_of_files(loaded.value.upstream))
        loaded.errors.push_back({asked.config_file.value_or(""), "", std::move(fault)});
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

}  // namespace seriesgate
