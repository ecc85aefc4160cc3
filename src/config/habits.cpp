#include "config/habits.hpp"

#include <algorithm>
#include <array>

#include "config/wording.hpp"

namespace seriesgate {
namespace {

struct habit {
    std::string_view theirs;  ///< folded
    std::string_view ours;
};

constexpr std::array<habit, 45> habits{{
    // vmagent
    {"remotewrite.maxhourlyseries", "maxHourlySeries"},
    {"remotewrite.maxdailyseries", "maxDailySeries"},
    {"remotewrite.url", "upstream.url"},
    {"remotewrite.sendtimeout", "upstream.timeout"},
    {"httplistenaddr", "listen"},
    {"maxinsertrequestsize", "server.maxRequestBytes"},
    {"loggerformat", "log.format"},
    {"loggerlevel", "log.level"},
    {"remotewrite.headers", "upstream.headers"},
    {"remotewrite.bearertoken", "upstream.bearerTokenFile"},
    {"remotewrite.bearertokenfile", "upstream.bearerTokenFile"},
    {"remotewrite.basicauth.username", "upstream.basicAuth"},
    {"remotewrite.basicauth.password", "upstream.basicAuth"},
    {"remotewrite.basicauth.passwordfile", "upstream.basicAuth"},
    {"remotewrite.tlscafile", "upstream.tls"},
    {"remotewrite.tlscertfile", "upstream.tls"},
    {"remotewrite.tlskeyfile", "upstream.tls"},
    {"remotewrite.tlsservername", "upstream.tls"},
    {"storage.maxhourlyseries", "maxHourlySeries"},
    {"storage.maxdailyseries", "maxDailySeries"},
    {"storagedatapath", "state.dir"},
    {"dryrun", "check-config"},
    {"configcheck", "check-config"},
    {"config", "config.file"},
    // Prometheus
    {"remotewrite", "upstream"},
    {"remotetimeout", "upstream.timeout"},
    {"tlsconfig", "upstream.tls"},
    {"cafile", "upstream.tls"},
    {"bearertoken", "upstream.bearerTokenFile"},
    {"authorization", "upstream.bearerTokenFile"},
    {"credentialsfile", "upstream.bearerTokenFile"},
    {"endpoint", "upstream.url"},
    {"web.listenaddress", "listen"},
    {"listenaddress", "listen"},
    {"storage.tsdb.path", "state.dir"},
    {"web.maxconnections", "server.maxConnections"},
    {"samplelimit", "limits"},
    // Mimir and Thanos
    {"httplistenaddress", "listen"},
    {"httplistenport", "listen"},
    {"httpaddress", "listen"},
    {"maxglobalseriesperuser", "tenants.default.maxHourlySeries"},
    {"maxglobalseriespermetric", "limits"},
    {"overrides", "tenants.overrides"},
    {"receive.tenantheader", "tenants.header"},
    {"datadir", "state.dir"},
}};

constexpr std::string_view skip_verify = "insecureskipverify";

}  // namespace

std::string_view key_for_habit(std::string_view name) {
    const auto found = std::ranges::find(habits, folded(name), &habit::theirs);
    return found == habits.end() ? std::string_view{} : found->ours;
}

std::string_view refusal_of_habit(std::string_view name) {
    if (!folded(name).ends_with(skip_verify)) return "";
    return "a store's certificate is always verified; name its authority in upstream.tls.caFile, and in "
           "upstream.tls.serverName the name that it has, if that is not the URL's host";
}

}  // namespace seriesgate
