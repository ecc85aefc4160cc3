/// Metrics of ingestion, and a bounded table of values by limit and tenant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "plan/plan.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- A table by limit and tenant.

/// Stands for all tenants that found no room for an entry of their own.
inline constexpr std::string_view other_tenants = "__other__";

/// Bounded: beyond pairs_max, new tenants of a limit share one entry. Threads: one at a time.
template <class Value>
class limit_table {
    struct slot {
        Value value{};
        bool shared = false;
    };
    using key = std::pair<std::string, std::string>;  // limit and tenant
    std::map<key, slot> slots_;
    std::size_t pairs_ = 0;

  public:
    static constexpr std::size_t pairs_max = 1000;

    Value& at(std::string_view limit, std::string_view tenant) {
        key own{limit, tenant};
        if (const auto known = slots_.find(own); known != slots_.end()) return known->second.value;
        const bool shared = is_full();
        if (shared) own.second = other_tenants;
        const auto [made, is_new] = slots_.try_emplace(std::move(own));
        if (is_new) made->second.shared = shared;
        if (is_new && !shared) ++pairs_;
        return made->second.value;
    }

    [[nodiscard]] bool is_full() const noexcept { return pairs_ == pairs_max; }

    /// @param visit called with limit, tenant and value, in the order of their names.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [of, each] : slots_) visit(of.first, of.second, each.value);
    }

    template <class Done>
    void erase_if(Done done) {
        for (auto each = slots_.begin(); each != slots_.end();) {
            const bool goes = done(each->second.value);
            if (goes && !each->second.shared) --pairs_;
            each = goes ? slots_.erase(each) : std::next(each);
        }
    }
};

// --- Counters by limit and tenant.

/// Counts refused samples. Only requests with refusals take its lock. When the table is full, idle pairs are erased, so
/// that invented tenant names do not keep others out. An erased pair starts again at zero, as after a restart. Threads:
/// any.
class limit_counters {
  public:
    using clock = monotonic_clock;
    static constexpr auto idle_min = std::chrono::minutes{10};
    static constexpr auto look_interval = std::chrono::minutes{1};

  private:
    struct count {
        std::uint64_t amount = 0;
        clock::time_point last{};
    };
    mutable std::mutex lock_;
    limit_table<count> counts_;
    clock::time_point next_look_{};

  public:
    void add(std::string_view limit, std::string_view tenant, std::uint64_t amount,
             clock::time_point now = clock::now());
    [[nodiscard]] std::uint64_t total() const;

    /// When each limit last counted something. Without the shared entries.
    struct occasion {
        std::string limit;
        std::string tenant;
        clock::time_point last;
    };
    [[nodiscard]] std::vector<occasion> last_occasions() const;

    void write(exposition& out, std::string_view name, std::string_view help) const;

  private:
    [[nodiscard]] limit_table<count> copy() const;
    void make_room(clock::time_point now);
};

// --- Marker metrics.

/// Samples of markers, end markers included, counted for each store. Threads: any.
struct marker_metrics {
    counter written;
    counter failed;  ///< an error, no answer, or not sent after an earlier failure
};

void write(exposition& out, const marker_metrics& metrics);

/// "Samples" means samples and native histograms together, as in /stats; histograms are also counted apart. Threads:
/// any.
struct ingest_metrics {
    counter_by<body_action> requests_forwarded;
    counter unconfirmed_requests;
    counter partly_written_requests;  ///< remote write 2: the upstream's 2xx confirmed fewer samples than sent
    counter untranslated_histograms;
    counter untranslated_series;
    counter_by<series_fault> series_left_out;
    counter query_arguments_dropped;
    counter requests_discarded;

    alignas(64) counter samples_received;
    counter samples_left_out;
    counter samples_accepted;  ///< stored + failed + those still waiting for the upstream's answer
    counter samples_refused;
    counter samples_refused_by_limits;  ///< apart from samples_refused, since rate() cannot subtract
    counter samples_stored;
    counter samples_failed;  ///< an error, no answer, or a success that does not confirm them
    counter unknown_dropped;
    counter histograms_received;
    counter exemplars_received;
    counter metadata_received;

    limit_counters limit_samples_refused;   ///< adds up to samples_refused while no idle pair was erased
    limit_counters limit_samples_observed;  ///< accepted although a limit that only observes had no room

    alignas(64) counter received_bytes;
    counter decoded_bytes;
};

void write(exposition& out, const ingest_metrics& metrics);

}  // namespace seriesgate
