/// How many connections the process has descriptors for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace seriesgate {

/// What takes descriptors besides the connections from senders.
struct descriptor_use {
    std::size_t workers = 1;            ///< without the front desk, and who shakes hands
    std::size_t idle_upstream_max = 0;  ///< connections to the upstream that a worker keeps open, at most
    std::size_t upstream_max = std::numeric_limits<std::size_t>::max();  ///< of all workers, idle ones or not
    bool has_replicas = false;          ///< a request may have several connections, and they may outlast it
    std::size_t admin_connections = 0;  ///< that admin.listen may have, beyond those that are asked about
};

/// The most connections for which the descriptors suffice whatever happens: each may have one to the upstream while its
/// request is worked on, some stay open without a request, and files, name lookups and event queues take their share,
/// the state file among them. At least 8: a process that has no room for those is beyond help.
/// @param descriptors the process' limit.
std::size_t connections_that_fit(std::uint64_t descriptors, const descriptor_use& others) noexcept;

/// How many descriptors the process may have (RLIMIT_NOFILE, the soft limit).
std::uint64_t descriptor_limit() noexcept;

/// Raises the soft limit of descriptors (RLIMIT_NOFILE) to the hard one, since nothing here uses select().
/// @return the limit that holds now.
std::uint64_t raise_descriptor_limit() noexcept;

}  // namespace seriesgate
