#include "app/sender_tls.hpp"

#include <chrono>

namespace seriesgate {

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

std::string fault_of_sender_tls(const config& settings) {
    if (!settings.web.tls) return "";
    const auto loaded = load_sender_tls(*settings.web.tls);
    return loaded ? "" : loaded.error();
}

void note_certificate(http_metrics& metrics, const tls_files& in_use) {
    const auto end = in_use.current()->not_after();
    metrics.certificate_not_after.set(end ? std::chrono::system_clock::to_time_t(*end) : 0);
}

}  // namespace seriesgate
