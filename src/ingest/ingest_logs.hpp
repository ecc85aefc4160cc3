/// What ingestion says in the log now and then, whichever worker comes upon it.
#pragma once

#include <chrono>

#include "ingest/left_out.hpp"
#include "ingest/lost_log.hpp"
#include "ingest/refusal_log.hpp"
#include "ingest/store_error_log.hpp"
#include "log/sparse_log.hpp"

namespace seriesgate {

/// Threads: any.
struct ingest_logs {
    refusal_log refused{};
    refusal_log observed{};  ///< what would be refused
    refusal_log beyond{};    ///< what limits of the gate's own have no room for, and is decided as others are
    left_out_log left_out{};
    store_error_log store_errors{};
    lost_log unconfirmed{std::chrono::minutes{1}};  ///< the store does not say what it has written
    lost_log partly_written{};                      ///< less than it was sent
    sparse_log query{std::chrono::hours{1}};        ///< arguments left out: somebody's mistake, until somebody mends it
};

}  // namespace seriesgate
