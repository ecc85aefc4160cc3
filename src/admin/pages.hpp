/// The thread that makes what /, /stats and /metrics answer.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

#include "admin/gate_counts.hpp"
#include "admin/page.hpp"
#include "limit/figures.hpp"
#include "metrics/exposition.hpp"

namespace seriesgate {

/// Where the figures on the pages come from: of those who count, admin knows but the limiter.
struct page_sources {
    const series_limiter& limiter;
    std::chrono::steady_clock::time_point started;
    std::function<void(exposition&)> write_metrics;  ///< the families of all others. Threads: any
    std::function<gate_counts()> counts;             ///< Threads: any
};

/// Makes the pages that are asked for until it is told to stop, and rests after each for three times as long as it
/// took: whoever asks for pages without end gets a quarter of a core at most. Waits for nothing that a request can
/// hold.
void make_pages(const std::stop_token& stop, page_desk& asked, const page_sources& from);

}  // namespace seriesgate
