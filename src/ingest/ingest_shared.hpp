/// What the ingestors of all workers have in common.
#pragma once

#include "config/config.hpp"
#include "ingest/ingest_logs.hpp"
#include "ingest/ingest_metrics.hpp"
#include "ingest/stores.hpp"
#include "series/fingerprint.hpp"
#include "wire/label_hash_cache.hpp"

namespace seriesgate {

class fleet_shared;
class noted_series;
class series_limiter;

/// Outlives them; any thread may use it at any time.
struct ingest_shared {
    const config& settings;
    series_limiter& limiter;
    const hash_key& key;  ///< of this installation
    ingest_metrics& metrics;
    shared_stores& stores;
    noted_series& noted;            ///< the new and the refused series
    fleet_shared* fleet = nullptr;  ///< with one limit for several gates
    ingest_logs logs{};
    known_labels labels{};  ///< of the series that have come
};

}  // namespace seriesgate
