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

constexpr std::array<habit, 30> habits{{
    // vmagent
    {"remotewrite.maxhourlyseries", "maxHourlySeries"},
    {"remotewrite.maxdailyseries", "maxDailySeries"},
    {"remotewrite.url", "upstream.url"},
    {"remotewrite.sendtimeout", "upstream.timeout"},
    {"httplistenaddr", "listen"},
    {"maxinsertrequestsize", "server.maxRequestBytes"},
    {"loggerformat", "log.format"},
    {"loggerlevel", "log.level"},
    {"storage.maxhourlyseries", "maxHourlySeries"},
    {"storage.maxdailyseries", "maxDailySeries"},
    {"storagedatapath", "state.dir"},
    {"dryrun", "check-config"},
    {"configcheck", "check-config"},
    {"config", "config.file"},
    // Prometheus
    {"remotewrite", "upstream"},
    {"remotetimeout", "upstream.timeout"},
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

}  // namespace

std::string_view key_for_habit(std::string_view name) {
    const auto found = std::ranges::find(habits, folded(name), &habit::theirs);
    return found == habits.end() ? std::string_view{} : found->ours;
}

}  // namespace seriesgate
