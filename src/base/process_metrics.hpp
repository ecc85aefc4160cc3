/// Metrics of the process, from /proc/self.
#pragma once

#include <cstdint>

#include "base/metrics.hpp"

namespace seriesgate {

/// What the kernel reports about this process. Unreadable values are 0.
struct process_stats {
    double cpu_seconds = 0;         ///< user and system time since the start
    double start_time_seconds = 0;  ///< Unix time
    std::uint64_t resident_memory_bytes = 0;
    std::uint64_t virtual_memory_bytes = 0;
    std::uint64_t open_fds = 0;
    std::uint64_t max_fds = 0;
    std::uint64_t threads = 0;
};

/// Reads /proc/self: some ten system calls, well under a millisecond. For scrapes, not for requests. Threads: any.
/// Source: proc(5), /proc/pid/stat; the same values as in the Prometheus client libraries.
process_stats read_process_stats();

/// Writes the families process_*, named as in the Prometheus client libraries.
void write(exposition& out, const process_stats& stats);

}  // namespace seriesgate
