#pragma once

#include <cstdint>

#include "base/metrics.hpp"

namespace seriesgate {

/// What the kernel says about this process. A figure that cannot be read is 0.
struct process_stats {
    double cpu_seconds = 0;         ///< user and system time since the start
    double start_time_seconds = 0;  ///< Unix time
    std::uint64_t resident_memory_bytes = 0;
    std::uint64_t virtual_memory_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;  ///< the soft limit
    std::uint64_t threads = 0;
};

/// Reads /proc/self: some ten system calls, well under a millisecond; for a scrape, not for every request.
/// Threads: any.
/// Source: proc(5), /proc/pid/stat; the same figures as the Prometheus client libraries.
process_stats read_process_stats();

/// The families process_*, named as the Prometheus client libraries name them.
void write(exposition& out, const process_stats& stats);

}  // namespace seriesgate
