/// What ingestion says in the log now and then, or once, whichever worker comes upon it.
#pragma once

#include <atomic>

#include "log/sparse_log.hpp"

namespace seriesgate {

/// Threads: any.
struct ingest_logs {
    sparse_log refusals{};
    sparse_log upstream_failures{};
    std::atomic_flag unconfirmed_told{};
    std::atomic_flag query_told{};
};

}  // namespace seriesgate
