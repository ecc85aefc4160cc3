#include "config/checks.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/endpoint.hpp"
#include "config/keys.hpp"
#include "config/units.hpp"
#include "core/text.hpp"

namespace seriesgate {
namespace {

using keys = std::vector<std::string>;

const std::string body_key = "server.maxRequestBytes";
const std::string decoded_key = "server.maxDecodedBytes";
const std::string inflight_key = "server.maxInflightBytes";
const std::string replicas_key = "upstream.replicateTo";
const std::string proxies_key = "server.trustedProxies";

/// A store and the key that its own keys stand below.
struct named_store {
    std::string key;
    const store_config& store;
};

/// Those that get the data.
std::vector<named_store> stores_of(const config& read) {
    std::vector<named_store> all{{"upstream", read.upstream.store}};
    for (std::size_t i = 0; i < read.upstream.replicas.size(); ++i)
        all.push_back({key_of_item(replicas_key, i), read.upstream.replicas[i].store});
    return all;
}

/// And the one that only answers queries.
std::vector<named_store> all_stores_of(const config& read) {
    std::vector<named_store> all = stores_of(read);
    all.push_back({"warmStart", read.warm_start.store});
    return all;
}

// --- errors

void check_upstream(const config& read, config_report& report) {
    const bool is_named = read.upstream.discard || !read.upstream.store.backends.empty() ||
                          report.has_errors("upstream.url") || report.has_errors("upstream.urls");
    if (!is_named)
        report.add(
            report.line_of("upstream"), "upstream.url",
            "is required, in the file or as --upstream.url=URL: http://host:port/path, or discard: to only count");
}

/// Backends that are the gate itself: an error if they are, a warning if they may be.
void check_own_addresses(const config& read, config_report& report) {
    using listener = std::pair<std::string, std::optional<listen_address>>;
    for (const auto& [own_key, where] : {listener{"listen", read.listen}, {"admin.listen", read.admin_listen}}) {
        if (!where || report.has_errors(own_key)) continue;
        for (const auto& [key, store] : all_stores_of(read)) {
            const bool has_url = store.backends.size() == 1 && report.is_set(key + ".url");
            if (report.has_errors(key + ".urls")) continue;  // some are left out
            for (std::size_t i = 0; i < store.backends.size(); ++i) {
                const keys at{has_url ? key + ".url" : key_of_item(key + ".urls", i)};
                const own_address found = find_own_address(*where, store.backends[i]);
                if (found == own_address::yes)
                    report.add_at(at, "is the address of " + in_quotes(own_key) +
                                          ": the gate would send to itself; the store listens elsewhere");
                if (found == own_address::maybe)
                    report.warn_at(at, "is another address of this machine with the port of " + in_quotes(own_key) +
                                           ": if no store listens there, it is wrong");
            }
        }
    }
}

/// Two listeners with one address would be found out only when the second is opened.
void check_listeners(const config& read, config_report& report) {
    if (report.has_errors("listen") || read.admin_listen != read.listen) return;
    if (read.listen.port == 0 && read.listen.unix_path.empty()) return;  // any two free ones
    report.add_at({"admin.listen", "listen"},
                  "'listen' and 'admin.listen' have one address: leave 'admin.listen' out to have all there");
}

/// A request has one Authorization header.
void check_authorization(const named_store& of, config_report& report) {
    const auto& [key, store] = of;
    const std::string other = !store.basic_auth.username.empty() ? "'basicAuth'" : "'bearerTokenFile'";
    const std::string message = "stands beside " + other + ": a request has one Authorization header";
    if (!store.basic_auth.username.empty() && !store.bearer_token_file.empty())
        report.add_at({key + ".bearerTokenFile"}, message);
    if (store.basic_auth.username.empty() && store.bearer_token_file.empty()) return;
    for (const auto& [name, value] : store.headers)
        if (equal_ignoring_case(name, "Authorization")) report.add_at({key_below(key + ".headers", name)}, message);
}

/// Whether what goes to one store goes to the other as well, in the same words.
bool are_one(const store_config& one, const store_config& other) {
    const bool same_words = one.headers == other.headers && one.basic_auth == other.basic_auth &&
                            one.bearer_token_file == other.bearer_token_file;
    return same_words && std::ranges::any_of(one.backends, [&](const store_backend& backend) {
               return std::ranges::any_of(other.backends,
                                          [&](const store_backend& each) { return are_same(backend, each); });
           });
}

/// A store that comes twice would get each sample twice.
void check_stores_differ(const config& read, config_report& report) {
    const auto stores = stores_of(read);
    for (std::size_t i = 1; i < stores.size(); ++i) {
        const auto first =
            std::ranges::find_if(stores.begin(), stores.begin() + static_cast<std::ptrdiff_t>(i),
                                 [&](const named_store& other) { return are_one(stores[i].store, other.store); });
        if (first->key != stores[i].key)
            report.add_at({stores[i].key}, "is a store that gets the same already, as " + first->key);
    }
}

/// A limit of all tenants has no tenant whose path its markers could be written to.
void check_marker(const config& read, config_report& report) {
    for (const auto& [key, store] : stores_of(read))
        if (read.marker && std::ranges::any_of(store.backends, has_tenant_mark))
            return report.add_at({"marker"}, "is not possible with {tenant} or {account} in the URL of a store");
}

/// Sizes that are good each by itself but not together. A request within its own bounds has to fit into those in
/// flight, or its sender is told to try again for ever.
void check_sizes(const config& read, config_report& report) {
    for (const std::string& key : {body_key, decoded_key, inflight_key})
        if (report.has_errors(key)) return;
    const server_config& server = read.server;
    const auto shown = [&](const std::string& key, std::uint64_t bytes) {
        return key + (report.has_variables(key) ? "" : " (" + format_size(bytes) + ")");
    };
    const std::string body = shown(body_key, server.body_bytes_max);
    const std::string decoded = shown(decoded_key, server.decoded_bytes_max);
    const std::string inflight = shown(inflight_key, server.inflight_bytes_max);
    if (server.body_bytes_max > server.decoded_bytes_max)
        report.add_at({decoded_key, body_key}, body + " must be at most " + decoded);
    else if (server.body_bytes_max + server.decoded_bytes_max > server.inflight_bytes_max)
        report.add_at({inflight_key, decoded_key, body_key}, body + " plus " + decoded + " must be at most " +
                                                                 inflight +
                                                                 ", or a large request is told to try again for ever");
}

void check_fleet(const config& read, config_report& report) {
    const redis_config& store = read.shared.store;
    const bool has_sentinels = !store.sentinel_master.empty();
    if (report.has_errors("shared") || report.has_errors("fingerprint.secretFile") || !read.shared.has_store()) return;
    const auto add_if = [&](bool is_wrong, const keys& at, const std::string& message) {
        if (is_wrong) report.add_at(at, message);
    };
    const keys url{"shared.url"};
    const keys master{"shared.sentinel.master"};
    add_if(has_sentinels && store.sentinel_addresses.empty(), master,
           "needs shared.sentinel.addresses: they are asked where the master is");
    add_if(!has_sentinels && !store.sentinel_addresses.empty(), {"shared.sentinel.addresses"},
           "needs shared.sentinel.master: the name that they are asked for");
    add_if(has_sentinels && !store.unix_path.empty(), url, "is a unix socket, and sentinels know masters by address");
    add_if(has_sentinels && store.cluster, {"shared.cluster"},
           "stands beside shared.sentinel: a cluster looks after its masters itself");
    add_if(store.cluster && store.database != 0, url, "a cluster has no other database than 0");
    add_if(!store.unix_path.empty() && store.tls_files != store_tls_config{}, {"shared.tls"},
           "is not possible: shared.url is a unix socket, which has no TLS");
    add_if(!store.username.empty() && store.password_file.empty(), {"shared.username"},
           "needs shared.passwordFile: the password stands in a file of its own");
    add_if(report.is_set("seriesSet") && read.series_set == set_kind::bloom, {"seriesSet"},
           "must be exact with shared: the series of a fleet are told to its store again when that loses data");
    add_if(read.secret_file.empty(), {"shared.url", "shared.sentinel.master"},
           "needs fingerprint.secretFile: gates of a fleet need the same secret");
}

/// Whether a maximum is never reached, since the one above, which holds for the same series and more, is smaller.
bool is_out_of_reach(std::uint64_t maximum, std::uint64_t above) noexcept {
    return maximum != 0 && above != 0 && maximum > above;
}

/// Whether a maximum may be wrong or doubtful.
bool is_worth_a_look(const series_maxima& maxima, const series_maxima& global) noexcept {
    return maxima.active != 0 || is_out_of_reach(maxima.hourly, maxima.daily) ||
           is_out_of_reach(maxima.hourly, global.hourly) || is_out_of_reach(maxima.daily, global.daily);
}

/// Calls visit(section, maxima) for all that are written and may have a fault; a section is what keys begin with.
template <class Visit>
void for_each_maxima(const limit_rules& rules, Visit visit) {
    visit("", rules.global);
    visit("tenants.default.", rules.tenants.fallback);
    for (const auto& [tenant, maxima] : rules.tenants.overrides)
        if (is_worth_a_look(maxima, rules.global)) visit(key_below("tenants.overrides", tenant) + ".", maxima);
    for (std::size_t i = 0; i < rules.limits.size(); ++i) {
        const std::string key = key_of_item("limits", i);
        visit(key + ".", rules.limits[i].maxima);
        for (std::size_t j = 0; j < rules.limits[i].overrides.size(); ++j) {
            const series_maxima& maxima = rules.limits[i].overrides[j].maxima;
            if (is_worth_a_look(maxima, rules.global)) visit(key_of_item(key + ".overrides", j) + ".", maxima);
        }
    }
}

void check_active_maxima(const config& read, config_report& report) {
    const bool in_fleet = read.shared.has_store();
    if ((read.series_set == set_kind::exact && !in_fleet) || report.has_errors("seriesSet")) return;
    for_each_maxima(read.rules, [&](const std::string& section, const series_maxima& maxima) {
        const std::string key = section + "maxActiveSeries";
        if (maxima.active == 0 || !report.is_set(key)) return;
        report.add_at({key}, in_fleet ? "is not possible with shared: a fleet does not count active series yet"
                                      : "needs seriesSet: exact: filters do not forget idle series");
    });
}

void check_warm_start(const config& read, config_report& report) {
    const warm_start_config& warm = read.warm_start;
    if (report.has_errors("warmStart.url") || !warm.is_configured()) return;
    const keys url{"warmStart.url"};
    const auto mark = tenant_mark_of(warm.store.backends.front());
    if (report.has_errors("warmStart.tenants")) return;  // some are left out
    for (std::size_t i = 0; mark && i < warm.tenants.size(); ++i) {
        if (fits_path(warm.tenants[i], mark->is_account)) continue;
        const std::string key = key_of_item("warmStart.tenants", i);
        report.add_at({key}, (report.has_variables(key) ? "" : in_quotes(warm.tenants[i]) + " ") +
                                 "cannot stand in the URL: " +
                                 (mark->is_account ? "expected an account, 7 or 7:1"
                                                   : "expected letters, digits, '-', '.', '_', '~' and ':'"));
    }
    if (mark && warm.tenants.empty())
        report.add_at(url, "needs warmStart.tenants: the names to put in the place of the tenant");
}

void check_ignored_labels(const config& read, config_report& report) {
    for (const config_error& each : ignored_labels(read.rules, read.ignore_labels)) {
        const bool is_shown = !report.has_variables(each.key) && !report.has_errors(each.key);
        if (each.key.starts_with("exempt") && report.has_errors("exempt")) continue;  // some are left out
        report.add_at({each.key}, is_shown ? each.message : "has a label that is one of ignoreLabels");
    }
}

/// Without one, nobody could connect as the key says.
void check_proxies(const config& read, config_report& report) {
    if (read.server.proxy_protocol && read.server.trusted_proxies.empty() && !report.has_errors(proxies_key))
        report.add_at({"server.proxyProtocol"}, "needs " + proxies_key + ": whose headers to believe");
}

// --- warnings

void lint_proxies(const config& read, config_report& report) {
    const std::vector<ip_network>& trusted = read.server.trusted_proxies;
    for (std::size_t i = 0; i < trusted.size(); ++i)
        if (trusted[i] == parse_ip_network("0.0.0.0/0") || trusted[i] == parse_ip_network("::/0"))
            report.warn_at({key_of_item(proxies_key, i)}, "is everybody: each sender says itself who it is");
}

/// @param section that the keys stand in, with a dot behind it; empty for the global maxima. What is inherited has been
/// looked at where it stands.
void lint_maxima(const std::string& section, const series_maxima& maxima, const series_maxima& global,
                 config_report& report) {
    const auto warn = [&](std::string_view key, const std::string& message) {
        report.warn_at({section + std::string{key}}, message);
    };
    constexpr std::string_view hourly = "maxHourlySeries", daily = "maxDailySeries", active = "maxActiveSeries";
    if (is_out_of_reach(maxima.hourly, maxima.daily)) {
        if (report.is_set(section + std::string{daily}))
            warn(daily, "is below maxHourlySeries, so the limit of the hour never refuses anything");
        else
            warn(hourly, "is above maxDailySeries, so it never refuses anything");
    }
    for (const auto& [key, maximum, above] : {std::tuple{hourly, maxima.hourly, global.hourly},
                                              {daily, maxima.daily, global.daily},
                                              {active, maxima.active, global.active}})
        if (is_out_of_reach(maximum, above))
            warn(key, fmt::format("is above the global {}, so it never refuses anything", key));
    if (maxima.active != 0 && maxima.hourly == 0)
        warn(active,
             "has no maxHourlySeries beside it: senders of stale markers may have twice as many new series in every "
             "activeWindow");
}

/// Whether two matchers of a selector exclude each other. Only where one of them asks for one value.
bool matches_nothing(const selector& tried) {
    const auto excludes = [&](const label_matcher& fixed) {
        return fixed.op == match_op::equal && std::ranges::any_of(tried.matchers(), [&](const label_matcher& other) {
                   return other.name == fixed.name && !other.accepts(fixed.value);
               });
    };
    return std::ranges::any_of(tried.matchers(), excludes);
}

/// By two series that nobody means, one with nothing but a name and one with labels that many have.
bool matches_everything(const selector& tried) {
    constexpr std::string_view odd = "zq_seriesgate_probe";
    constexpr label_view bare[]{{name_label, odd}};
    constexpr label_view usual[]{{name_label, odd}, {"cluster", odd}, {"container", odd}, {"env", odd},
                                 {"instance", odd}, {"job", odd},     {"namespace", odd}, {"pod", odd}};
    return tried.matches(bare) && tried.matches(usual);
}

void lint_limits(const limit_rules& rules, config_report& report) {
    const std::string nothing = "matches no series: two of its conditions exclude each other";
    for_each_maxima(rules, [&](const std::string& section, const series_maxima& maxima) {
        lint_maxima(section, maxima, section.empty() ? series_maxima{} : rules.global, report);
    });
    for (std::size_t i = 0; i < rules.limits.size(); ++i) {
        const label_limit& limit = rules.limits[i];
        const std::string key = key_of_item("limits", i);
        if (limit.match && matches_nothing(*limit.match)) report.warn_at({key + ".match"}, nothing);
    }
    for (std::size_t i = 0; i < rules.exempt.size(); ++i) {
        const selector& exempt = rules.exempt[i];
        const auto warn = [&](const std::string& message) { report.warn_at({key_of_item("exempt", i)}, message); };
        if (matches_everything(exempt))
            warn("matches every series or nearly, and maxExemptSeries is the only limit of what is exempt");
        if (matches_nothing(exempt)) warn(nothing);
        const auto same = std::ranges::find(rules.limits, exempt,
                                            [](const label_limit& limit) { return limit.match.value_or(selector{}); });
        if (same != rules.limits.end())
            warn("is what " + key_of_item("limits", static_cast<std::size_t>(same - rules.limits.begin())) +
                 " matches, which therefore refuses only what exceeds maxExemptSeries");
    }
}

void lint_stores(const config& read, config_report& report) {
    const bool discard = read.upstream.discard;
    for (const auto& [key, store] : all_stores_of(read))
        if (store.tls != store_tls_config{} && !store.backends.empty() &&
            std::ranges::none_of(store.backends, &store_backend::tls))
            report.warn_at({key + ".tls"}, "is not used: no URL of the store has https://");
    if (discard && !read.upstream.replicas.empty())
        report.warn_at({replicas_key}, "is not used: with 'discard:' nothing is forwarded");
    if (discard && read.marker) report.warn_at({"marker"}, "is not used: with 'discard:' nothing is forwarded");
    const auto is_of_one_account = [](const store_backend& each) {
        return each.target.reveal().starts_with("/insert/") && !has_tenant_mark(each);
    };
    if (!read.tenant_path.empty() && std::ranges::any_of(read.upstream.store.backends, is_of_one_account))
        report.warn_at(
            {"tenants.path"},
            "names tenants, and upstream.url has one of its own for all of them: write {account} in its place");
}

void lint_top_labels(const config& read, config_report& report) {
    constexpr std::array<std::string_view, 4> own{"metric", "label", "sender", "tenant"};
    for (std::size_t i = 0; i < read.top_labels.size(); ++i)
        if (std::ranges::find(own, read.top_labels[i]) != own.end())
            report.warn_at({key_of_item("topLabels", i)},
                           "is a word of /api/v1/top itself, which never shows the values of this label");
}

/// At what asks for the answer. Whoever has chosen 400 knows the senders.
void lint_reject_status(const limit_rules& rules, config_report& report) {
    if (report.is_set("rejectStatus")) return;
    const auto rejects = [](const auto& answer) { return answer == limit_answer::reject; };
    const auto& answers = rules.tenants.answers;
    keys at;
    if (rejects(rules.tenants.answer))
        at = {"tenants.onLimit", "onLimit"};
    else if (std::ranges::any_of(rules.limits, rejects, &label_limit::answer))
        at = {"limits"};
    else if (std::ranges::any_of(answers, [&](const auto& each) { return rejects(each.second); }))
        at = {"tenants.overrides"};
    report.warn_at(at,
                   "is told with 400 as long as rejectStatus is not set: a vmagent that gets it sends that request "
                   "again, and then snappy in place of zstd until its restart; 409 does neither");
}

/// Whether some series may be refused.
bool enforces_any(const limit_rules& rules) {
    const auto limits = [](const auto& each) { return each.second.limit(); };
    const auto enforces = [](const label_limit& limit) {
        const auto is_limited = [](const group_override& each) { return each.maxima.limit(); };
        return limit.mode == limit_mode::enforce &&
               (limit.maxima.limit() || std::ranges::any_of(limit.overrides, is_limited));
    };
    if (rules.mode == limit_mode::observe) return false;
    const bool of_tenants = rules.tenants.mode == limit_mode::enforce &&
                            (rules.tenants.fallback.limit() || std::ranges::any_of(rules.tenants.overrides, limits));
    return rules.global.limit() || of_tenants || std::ranges::any_of(rules.limits, enforces);
}

void lint_fleet(const config& read, config_report& report) {
    if (!read.shared.has_store()) {
        const config none;
        for (const config_key& key : config_keys())
            if (key.about.name.starts_with("shared.") && !key.same(read, none))
                report.warn_at({key.about.name},
                               "is not used: without shared.url or shared.sentinel.master this gate limits alone");
        return;
    }
    if (!read.shared.store.tls && read.shared.store.tls_files != store_tls_config{})
        report.warn_at({"shared.tls"}, "is not used: shared.url does not begin with rediss://");
    if (report.is_set("shared.reserve"))
        report.warn_at({"shared.reserve"}, "is not used any more: nothing is held back");
    if (!enforces_any(read.rules))
        report.warn_at({"shared.url", "shared.sentinel.master"}, "no limit is enforced, so there is nothing to share");
}

// --- files with secrets

struct secret_place {
    std::string key;
    std::string path;
};

uid_t user_of(const config& read) {
    struct stat found {};
    const bool may_only_check = ::geteuid() == 0 && !read.state.dir.empty();
    return may_only_check && ::stat(read.state.dir.c_str(), &found) == 0 ? found.st_uid : ::geteuid();
}

bool is_of_another_user(const struct stat& found, uid_t user) {
    return found.st_uid != 0 && found.st_uid != user;
}

/// Empty if nobody else can put another file in a file's place.
std::string doubt_of_directory(const std::filesystem::path& directory, uid_t user) {
    struct stat found {};
    if (::stat(directory.c_str(), &found) != 0) return "";
    const std::string start = "stands in the directory '" + printable(directory.string(), std::string_view::npos) + "'";
    if (is_of_another_user(found, user)) return start + ", which belongs to the user " + std::to_string(found.st_uid);
    const bool keeps_to_owners = (found.st_mode & S_ISVTX) != 0;
    return (found.st_mode & S_IWOTH) != 0 && !keeps_to_owners ? start + ", where every user can replace it" : "";
}

/// Whether the configuration itself says what it shows nobody.
bool holds_secrets(const store_config& store) {
    const auto has_query = [](const store_backend& each) {
        return each.target.reveal().find('?') != std::string::npos;
    };
    return !store.headers.empty() || std::ranges::any_of(store.backends, has_query);
}

std::vector<secret_place> places_of_secrets(const config& read) {
    std::vector<secret_place> all{{"fingerprint.secretFile", read.secret_file}};
    if (read.secret_file.empty() && !read.state.dir.empty())
        all.push_back({"state.dir", (std::filesystem::path{read.state.dir} / "secret").string()});
    for (const auto& [key, store] : all_stores_of(read)) {
        all.push_back({key + ".basicAuth.passwordFile", store.basic_auth.password_file});
        all.push_back({key + ".bearerTokenFile", store.bearer_token_file});
        all.push_back({key + ".tls.keyFile", store.tls.key_file});
    }
    all.push_back({"shared.passwordFile", read.shared.store.password_file});
    all.push_back({"shared.tls.keyFile", read.shared.store.tls_files.key_file});
    if (!read.web.basic_auth_users.empty()) all.push_back({"web.config.file", read.web_config_file});
    if (read.web.tls) all.push_back({"web.config.file", read.web.tls->key_file});
    for (const bearer_token& each : read.web.bearer_tokens) all.push_back({"web.config.file", each.token_file});
    return all;
}

}  // namespace

std::vector<config_error> ignored_labels(const limit_rules& rules, std::span<const std::string> ignored) {
    std::vector<config_error> found;
    const auto is_ignored = [&](std::string_view name) { return std::ranges::count(ignored, name) != 0; };
    const auto look_at = [&](const std::string& key, std::string_view name) {
        if (is_ignored(name))
            found.push_back({"", key, in_quotes(name) + " is one of ignoreLabels, which do not tell series apart"});
    };
    const auto look_at_first = [&](const std::string& key, const selector& of) {
        const auto first = std::ranges::find_if(of.matchers(), is_ignored, &label_matcher::name);
        if (first != of.matchers().end()) look_at(key, first->name);
    };
    for (std::size_t i = 0; i < rules.limits.size(); ++i) {
        const label_limit& limit = rules.limits[i];
        const std::string key = key_of_item("limits", i);
        if (limit.match) look_at_first(key + ".match", *limit.match);
        for (std::size_t j = 0; j < limit.each.size(); ++j) look_at(key_of_item(key + ".each", j), limit.each[j]);
    }
    for (std::size_t i = 0; i < rules.exempt.size(); ++i) look_at_first(key_of_item("exempt", i), rules.exempt[i]);
    return found;
}

std::string active_maximum_key(const limit_rules& rules) {
    std::string first;
    for_each_maxima(rules, [&](const std::string& section, const series_maxima& maxima) {
        if (maxima.active != 0 && first.empty()) first = section + "maxActiveSeries";
    });
    return first;
}

void check_config(const config& read, config_report& report) {
    check_upstream(read, report);
    check_own_addresses(read, report);
    check_listeners(read, report);
    for (const named_store& each : all_stores_of(read)) check_authorization(each, report);
    check_stores_differ(read, report);
    check_marker(read, report);
    check_sizes(read, report);
    check_fleet(read, report);
    check_ignored_labels(read, report);
    check_active_maxima(read, report);
    check_warm_start(read, report);
    check_proxies(read, report);
}

void lint_config(const config& read, config_report& report) {
    lint_limits(read.rules, report);
    if (std::ranges::count(read.ignore_labels, name_label) != 0)
        report.warn_at({"ignoreLabels"},
                       "without the name, series of all metrics that have the same labels count as one");
    lint_top_labels(read, report);
    lint_stores(read, report);
    lint_reject_status(read.rules, report);
    lint_fleet(read, report);
    lint_proxies(read, report);
    report.sort_by_line();
}

std::string doubt_of_secret_file(const std::string& path, uid_t user) {
    struct stat found {};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) return "";
    const std::string start = "has a secret in '" + printable(path, std::string_view::npos) + "', which ";
    if (is_of_another_user(found, user)) return start + "belongs to the user " + std::to_string(found.st_uid);
    if ((found.st_mode & S_IWOTH) != 0) return start + "every user can change";
    if ((found.st_mode & S_IROTH) != 0) return start + "every user can read: chmod o= keeps it to its owner and group";
    const std::filesystem::path directory = std::filesystem::path{path}.parent_path();
    const std::string doubt = doubt_of_directory(directory.empty() ? "." : directory, user);
    return doubt.empty() ? "" : start + doubt;
}

std::vector<config_error> lint_secret_files(const config& read, const std::string& file) {
    std::vector<secret_place> all = places_of_secrets(read);
    const auto is_secret = [](const named_store& each) { return holds_secrets(each.store); };
    if (std::ranges::any_of(all_stores_of(read), is_secret)) all.push_back({"", file});
    const std::string shown_file = printable(file, std::string_view::npos);
    std::vector<config_error> doubts;
    for (const auto& [key, path] : all)
        if (std::string doubt = doubt_of_secret_file(path, user_of(read)); !doubt.empty())
            doubts.push_back({shown_file, key, std::move(doubt), severity::warning});
    return doubts;
}

}  // namespace seriesgate
