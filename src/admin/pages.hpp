/// Makes the pages (/, /stats, /metrics and the API), and bounds those that slow readers hold.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admin/gate_counts.hpp"
#include "admin/page_queue.hpp"
#include "admin/status_facts.hpp"
#include "base/metrics.hpp"
#include "limit/figures.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Bounds what slow readers hold of one sort of pages. While readers hold less than held_bytes_max, each request gets a
/// fresh text. Beyond that, a request shares the newest text of its key, not older than age_max, or gets none. So the
/// texts take at most held_bytes_max plus one text.
/// Threads: one; any thread may release a text.
class page_cache {
    using time_point = std::chrono::steady_clock::time_point;
    struct entry {
        api_question key;
        std::weak_ptr<const std::string> text;
        std::size_t bytes;
        time_point made;
    };
    std::vector<entry> entries_;  // oldest first

  public:
    static constexpr std::size_t held_bytes_max = 32u << 20;
    /// A session's time to read an answer: readers of older texts are gone by then.
    static constexpr auto age_max = std::chrono::seconds{30};

    [[nodiscard]] bool has_room();
    /// The newest text of this key that is young enough and still held, or null.
    [[nodiscard]] page_text newest(const api_question& key, time_point now) const;
    void put(const api_question& key, const page_text& text, time_point now);
};

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
