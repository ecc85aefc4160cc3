#include "fleet/store_fitness.hpp"

#include <charconv>
#include <utility>

namespace seriesgate {
namespace {

/// Scripts that write after they have asked for the time, EXPIREAT in them, SMISMEMBER.
constexpr std::pair<unsigned, unsigned> version_min{6, 2};

std::string_view field(std::string_view info, std::string_view name) {
    for (std::size_t at = 0; at < info.size();) {
        const std::size_t end = std::min(info.find('\n', at), info.size());
        std::string_view line = info.substr(at, end - at);
        at = end + 1;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
            return line.substr(name.size() + 1);
    }
    return {};
}

/// "7.0.15": the first two. What is no version is as good as new.
std::pair<unsigned, unsigned> version_of(std::string_view text) {
    std::pair<unsigned, unsigned> version{~0u, 0u};
    const char* const end = text.data() + text.size();
    const auto major = std::from_chars(text.data(), end, version.first);
    if (major.ec == std::errc{} && major.ptr != end) std::from_chars(major.ptr + 1, end, version.second);
    return version;
}

}  // namespace

store_facts read_store_facts(std::string_view info) {
    const std::string_view valkey = field(info, "valkey_version");
    const std::string_view redis = field(info, "redis_version");
    return {.version = std::string{redis},
            .maxmemory_policy = std::string{field(info, "maxmemory_policy")},
            .server = valkey.empty() ? "Redis " + std::string{redis} : "Valkey " + std::string{valkey}};
}

std::string unfitness_of(const store_facts& facts) {
    if (version_of(facts.version) < version_min)
        return facts.server + " is too old, gates need what Redis 6.2 and every Valkey has";
    if (!facts.maxmemory_policy.empty() && facts.maxmemory_policy != "noeviction")
        return "its maxmemory-policy is " + facts.maxmemory_policy +
               ", which may throw counts away: set maxmemory-policy to noeviction";
    return {};
}

}  // namespace seriesgate
