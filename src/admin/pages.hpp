/// Makes what /, /stats, /metrics and the API answer.
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

/// Where the figures on the pages come from: of those who count, admin knows but the limiter.
struct page_sources {
    const series_limiter& limiter;
    std::chrono::steady_clock::time_point started;
    std::function<void(exposition&)> write_metrics;  ///< the families of all others. Threads: any
    std::function<gate_counts()> counts;             ///< Threads: any
    std::function<void()> catch_up{};                ///< to what is known by now of the two below. Threads: any
    cardinality_tracker& tracker;
    refused_ring& refused;
    observed_demand& demand;
    const hash_key& key;                             ///< of the fingerprints
    const std::vector<std::string>& ignored_labels;  ///< by them
    std::function<time_point()> now;                 ///< by which requests are decided
    std::function<upkeep_facts()> upkeep;            ///< Threads: any
};

/// Makes the pages that are asked for, and rests after each for three times as long as it has worked: whoever asks for
/// pages without end gets a quarter of a core at most, and on a busy machine no less. Waits for nothing that a request
/// can hold. Spawn it once for each desk, on an event loop of their own: a page may take a while.
net::awaitable<void> make_pages(page_queue& asked, const page_sources& from);

}  // namespace seriesgate
