#include "config/shared_checks.hpp"

#include <algorithm>
#include <utility>

namespace seriesgate {
namespace {

constexpr std::string_view url_key = "shared.url";
constexpr std::string_view master_key = "shared.sentinel.master";
constexpr std::string_view addresses_key = "shared.sentinel.addresses";
constexpr std::string_view tls_key = "shared.tls";

/// Collects what is so.
class remarks {
    std::vector<key_remark> found_;

  public:
    void add_if(bool is_so, std::vector<std::string_view> keys, std::string message) {
        if (is_so) found_.push_back({std::move(keys), std::move(message)});
    }
    std::vector<key_remark> take() { return std::move(found_); }
};

void check_where(const redis_config& store, remarks& found) {
    const bool has_sentinels = !store.sentinel_master.empty();
    const bool has_tls_files = store.tls_files != store_tls_config{};
    found.add_if(has_sentinels && store.sentinel_addresses.empty(), {master_key},
                 "needs shared.sentinel.addresses: who is asked where the master is");
    found.add_if(!has_sentinels && !store.sentinel_addresses.empty(), {addresses_key},
                 "needs shared.sentinel.master: the name of whom they are asked for");
    found.add_if(has_sentinels && !store.unix_path.empty(), {url_key},
                 "is a unix socket, and sentinels know masters by address");
    found.add_if(has_sentinels && store.cluster, {"shared.cluster"},
                 "stands beside shared.sentinel: a cluster looks after its masters itself");
    found.add_if(store.cluster && store.database != 0, {url_key}, "a cluster has no other database than 0");
    found.add_if(!store.unix_path.empty() && has_tls_files, {tls_key},
                 "is not possible: shared.url is a unix socket, which has no TLS");
}

bool limits_any(const std::map<std::string, series_maxima, std::less<>>& overrides) {
    return std::ranges::any_of(overrides, [](const auto& each) { return each.second.limit(); });
}

bool enforces(const label_limit& limit) {
    const auto limits = [](const group_override& each) { return each.maxima.limit(); };
    return limit.mode == limit_mode::enforce && (limit.maxima.limit() || std::ranges::any_of(limit.overrides, limits));
}

/// Whether some series may be refused.
bool enforces_any(const limit_rules& rules) {
    if (rules.mode == limit_mode::observe) return false;
    const bool of_tenants = rules.tenants.mode == limit_mode::enforce &&
                            (rules.tenants.fallback.limit() || limits_any(rules.tenants.overrides));
    return rules.global.limit() || of_tenants || std::ranges::any_of(rules.limits, enforces);
}

/// Keys that say something although there is no store to say it of.
std::vector<std::string_view> keys_in_vain(const shared_config& read) {
    const shared_config none;
    std::vector<std::string_view> keys;
    const auto add_if = [&](bool differs, std::string_view key) {
        if (differs) keys.push_back(key);
    };
    add_if(read.name_space != none.name_space, "shared.namespace");
    add_if(read.store.username != none.store.username, "shared.username");
    add_if(read.store.password_file != none.store.password_file, "shared.passwordFile");
    add_if(read.store.sentinel_addresses != none.store.sentinel_addresses, addresses_key);
    add_if(read.store.cluster != none.store.cluster, "shared.cluster");
    add_if(read.store.tls_files != none.store.tls_files, tls_key);
    add_if(read.store.timeout != none.store.timeout, "shared.timeout");
    add_if(read.on_unavailable != none.on_unavailable, "shared.onUnavailable");
    add_if(read.reserve != none.reserve, "shared.reserve");
    return keys;
}

}  // namespace

std::vector<key_remark> wrong_with_shared(const config& read) {
    remarks found;
    if (!read.shared.has_store()) return {};
    check_where(read.shared.store, found);
    found.add_if(!read.shared.store.username.empty() && read.shared.store.password_file.empty(), {"shared.username"},
                 "needs shared.passwordFile: the password stands in a file of its own");
    found.add_if(read.secret_file.empty(), {url_key, master_key},
                 "needs fingerprint.secretFile: gates of a fleet need the same secret");
    return found.take();
}

std::vector<key_remark> doubtful_in_shared(const config& read) {
    remarks found;
    if (!read.shared.has_store()) {
        for (const std::string_view key : keys_in_vain(read.shared))
            found.add_if(true, {key},
                         "is not used: without shared.url or shared.sentinel.master this gate limits alone");
        return found.take();
    }
    const redis_config& store = read.shared.store;
    found.add_if(!store.tls && store.tls_files != store_tls_config{}, {tls_key},
                 "is not used: shared.url does not begin with rediss://");
    found.add_if(
        read.shared.on_unavailable != unavailable_answer::local && read.shared.reserve != shared_config{}.reserve,
        {"shared.reserve"}, "is not used: only with shared.onUnavailable: local is anything held back");
    found.add_if(!enforces_any(read.rules), {url_key, master_key},
                 "no limit is enforced, so there is nothing to share");
    return found.take();
}

}  // namespace seriesgate
