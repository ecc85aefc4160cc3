/// What a worker's ingestion stands on.
#pragma once

#include <utility>

#include "ingest/ingest_shared.hpp"
#include "ingest/stores.hpp"
#include "limit/limiter.hpp"
#include "net/asio.hpp"
#include "net/wall_clock.hpp"

namespace seriesgate::testing {

struct ingest_parts {
    config settings;
    series_limiter limiter;
    ingest_metrics metrics;
    upstream_metrics upstream;
    shared_stores stores{settings.upstream, upstream, 1};
    ingest_shared shared{.settings = settings,
                         .limiter = limiter,
                         .key = hash_key::known_to_all(),
                         .metrics = metrics,
                         .stores = stores};
    net::io_context io;

    explicit ingest_parts(config configured, const limit_rules& rules = {})
        : settings(std::move(configured)), limiter(rules, wall_clock_now()) {}
};

}  // namespace seriesgate::testing
