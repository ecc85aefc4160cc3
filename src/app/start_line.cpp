#include "app/start_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/shown.hpp"
#include "config/version.hpp"
#include "core/text.hpp"
#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t names_max = 5;
constexpr std::string_view no_limit = "no limit";

std::string series_max(std::uint64_t configured) {
    return configured == 0 ? std::string{no_limit} : std::to_string(configured);
}

std::string in_words(const series_maxima& maxima) {
    if (maxima.daily == 0) return fmt::format("{} an hour", maxima.hourly);
    if (maxima.hourly == 0) return fmt::format("{} a day", maxima.daily);
    return fmt::format("{} an hour, {} a day", maxima.hourly, maxima.daily);
}

std::string state_of(const config& settings) {
    if (settings.shared.has_store()) return "in the shared store";
    const state_config& state = settings.state;
    return state.dir.empty() ? "none: a restart forgets all series" : state.dir;
}

}  // namespace

std::string authentication_in_words(const web_config& web) {
    const bool by_certificate = web.tls && web.tls->verifies_clients();
    std::string ways;
    const auto add = [&ways](bool is_asked, std::string_view way) {
        if (is_asked) ways.append(ways.empty() ? "" : ", ").append(way);
    };
    add(!web.basic_auth_users.empty(), "users");
    add(!web.bearer_tokens.empty(), "tokens");
    add(by_certificate, "certificates");
    return ways.empty() ? "none" : ways;
}

std::string in_words(const tenant_limits& tenants) {
    std::string text =
        tenants.fallback.limit() ? fmt::format("each {}", in_words(tenants.fallback)) : std::string{no_limit};
    if (!tenants.overrides.empty()) text.append("; ").append(counted(tenants.overrides.size(), "override"));
    if (tenants.mode == limit_mode::observe) text += "; observe";
    return text;
}

std::string in_words(const std::vector<label_limit>& limits) {
    if (limits.empty()) return "none";
    std::string text = fmt::format("{}: ", limits.size());
    for (std::size_t i = 0; i < std::min(limits.size(), names_max); ++i) {
        text.append(i == 0 ? "" : ", ").append(limits[i].name);
        if (limits[i].mode == limit_mode::observe) text += " (observe)";
    }
    if (limits.size() > names_max) text += fmt::format(" and {} more", limits.size() - names_max);
    return text;
}

void log_start(const config& settings, const listening_at& where, std::size_t threads, std::string_view config_file) {
    const limit_rules& rules = settings.rules;
    log::info("seriesgate is up", {{"version", version()},
                                   {"listen", where.senders},
                                   {"admin_listen", where.people},
                                   {"tls", settings.web.tls ? "yes" : "no"},
                                   {"authentication", authentication_in_words(settings.web)},
                                   {"upstream", shown_url(settings.upstream)},
                                   {"protocol", shown(settings.upstream.protocol)},
                                   {"mode", shown(rules.mode)},
                                   {"max_hourly_series", series_max(rules.global.hourly)},
                                   {"max_daily_series", series_max(rules.global.daily)},
                                   {"tenants", in_words(rules.tenants)},
                                   {"limits", in_words(rules.limits)},
                                   {"state", state_of(settings)},
                                   {"threads", threads},
                                   {"config_file", config_file.empty() ? "none" : config_file}});
}

}  // namespace seriesgate
