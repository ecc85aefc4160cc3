/// Makes the pages: /, /stats, /metrics and the API.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "admin/gate_counts.hpp"
#include "admin/page_cache.hpp"
#include "admin/status_facts.hpp"
#include "base/metrics.hpp"
#include "limit/figures.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

class observed_demand;
class refused_ring;
class cardinality_tracker;

/// The sources of the pages' figures. admin knows only the limiter; functions give the figures of other rooms.
struct page_sources {
    const series_limiter& limiter;
    std::chrono::steady_clock::time_point started;
    std::function<void(exposition&)> write_metrics;  ///< families of other rooms. Threads: any
    std::function<gate_counts()> counts;             ///< Threads: any
    std::function<void()> catch_up{};                ///< counts waiting series before they are shown. Threads: any
    cardinality_tracker& tracker;
    refused_ring& refused;
    observed_demand& demand;
    const hash_key& key;                             ///< of the fingerprints
    const std::vector<std::string>& ignored_labels;  ///< left out of the fingerprints
    std::function<time_point()> now;                 ///< the limiter's clock
    std::function<upkeep_facts()> upkeep;            ///< Threads: any
};

/// Makes the pages that are asked for, and pauses three times as long as each took. So endless requests cost at most a
/// quarter of a core, also on a busy machine. Never waits for a request. Spawn it once for each queue, on a separate
/// event loop.
net::awaitable<void> make_pages(page_queue& asked, const page_sources& from);

}  // namespace seriesgate
