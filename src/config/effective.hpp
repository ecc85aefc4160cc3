/// The configuration as it is in force, for people.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/keys.hpp"

/// Secrets are left out of all of it. Threads: any.
namespace seriesgate {

/// Every key with its value, defaults included, as a file of YAML. Loaded again, it gives the same configuration, but
/// for the secrets.
std::string effective_yaml(const config& settings);

/// What differs between two configurations in the keys of this kind, a short text each, in the order of the table:
///
///     maxHourlySeries 1000000 -> 2000000
///     tenants.overrides[team-a].maxDailySeries 5 -> 6
///     upstream.tls.caFile unset -> /etc/seriesgate/ca.pem
///     limits[per-namespace] added
///     exempt: 'up' removed
///
/// A value is shown up to 100 bytes. Of what looks the same and is not, secrets for example, the key has
/// "changed".
std::vector<std::string> changes(const config& before, const config& after, key_effect of);

}  // namespace seriesgate
