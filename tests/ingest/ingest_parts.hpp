/// What a worker's ingestion stands on.
#pragma once

#include <utility>

#include "base/clock.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "ingest/ingest_shared.hpp"
#include "ingest/series_sampler.hpp"
#include "ingest/warm_series.hpp"
#include "limit/limiter.hpp"
#include "net/async.hpp"

namespace seriesgate::testing {

struct ingest_parts {
    config settings;
    series_limiter limiter;
    ingest_metrics metrics;
    upstream_metrics upstream;
    shared_stores stores{settings.upstream, upstream, 1};
    cardinality_tracker tracker{std::vector<std::string>{"job"}, hash_key::known_to_all(), wall_clock::now()};
    refused_ring refused{};
    series_sampler sampler{tracker, refused, limiter};
    warm_series warm{};
    ingest_shared shared{.settings = settings,
                         .limiter = limiter,
                         .key = hash_key::known_to_all(),
                         .metrics = metrics,
                         .stores = stores,
                         .sampler = sampler,
                         .warm = warm};
    net::io_context io;

    explicit ingest_parts(config configured, const limit_rules& rules = {})
        : settings(std::move(configured)), limiter(rules, wall_clock::now()) {}
};

}  // namespace seriesgate::testing
