/// What is counted about remote write requests: what they hold and what becomes of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "plan/plan.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- Something for each limit and tenant.

/// What stands for all tenants that came when there was no room for one of its own.
inline constexpr std::string_view other_tenants = "__other__";

/// Bounded: beyond pairs_max the tenants of a limit share one. Threads: one at a time.
template <class Value>
class limit_table {
    struct slot {
        Value value{};
        bool shared = false;
    };
    using by_tenant = std::map<std::string, slot, std::less<>>;
    std::map<std::string, by_tenant, std::less<>> by_limit_;
    std::size_t pairs_ = 0;  // but for those that are shared

  public:
    static constexpr std::size_t pairs_max = 1000;

    Value& at(std::string_view limit, std::string_view tenant) {
        auto of = by_limit_.find(limit);
        if (of == by_limit_.end()) of = by_limit_.try_emplace(std::string{limit}).first;
        auto known = of->second.find(tenant);
        if (known == of->second.end() && pairs_ == pairs_max) known = of->second.find(other_tenants);
        if (known == of->second.end()) known = add(of->second, tenant);
        return known->second.value;
    }

    /// Whether the next tenant would share.
    [[nodiscard]] bool is_full() const noexcept { return pairs_ == pairs_max; }

    /// @param visit called with limit, tenant and value, in the order of their names.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [limit, tenants] : by_limit_)
            for (const auto& [tenant, of] : tenants) visit(limit, tenant, of.value);
    }

    /// @param done whether the pair may go. It makes room for another one.
    template <class Done>
    void erase_if(Done done) {
        for (auto of = by_limit_.begin(); of != by_limit_.end();) {
            for (auto each = of->second.begin(); each != of->second.end();) {
                const bool goes = done(each->second.value);
                pairs_ -= goes && !each->second.shared ? 1 : 0;
                each = goes ? of->second.erase(each) : std::next(each);
            }
            of = of->second.empty() ? by_limit_.erase(of) : std::next(of);
        }
    }

  private:
    auto add(by_tenant& to, std::string_view tenant) {
        const bool shared = pairs_ == pairs_max;
        const auto made = to.try_emplace(std::string{shared ? other_tenants : tenant}).first;
        made->second.shared = shared;
        pairs_ += shared ? 0 : 1;
        return made;
    }
};

// --- Counters by limit and tenant.

class exposition;

/// A few times for a request of which something was refused, never for others: a lock is good enough. When there are as
/// many pairs as there may be, those without news for a while make room, so that whoever makes up names of tenants does
/// not keep others out for ever. One that comes again counts from zero, as after a restart. Threads: any.
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
    /// Of the pairs that are there.
    [[nodiscard]] std::uint64_t total() const;

    /// Which limits have had something to count, and when last; not of tenants that share one.
    struct occasion {
        std::string limit;
        std::string tenant;
        clock::time_point last;
    };
    [[nodiscard]] std::vector<occasion> last_occasions() const;

    /// A family with the labels `limit` and `tenant`.
    void write(exposition& out, std::string_view name, std::string_view help) const;

  private:
    [[nodiscard]] limit_table<count> copy() const;
    void make_room(clock::time_point now);
};

// --- What is counted about markers.

class exposition;

/// Samples of markers, their ends included, each counted for each store. Threads: any.
struct marker_metrics {
    counter written;  ///< a store has taken them
    counter failed;   ///< it has not: an error, no answer, or they were not sent after one that got none
};

/// Its families.
void write(exposition& out, const marker_metrics& metrics);

class exposition;

/// "Samples" are samples and native histograms together, as in /stats; histograms are also counted apart.
/// Threads: any.
struct ingest_metrics {
    counter_by<body_action> requests_forwarded;  ///< what was made of requests that decode
    counter unconfirmed_requests;                ///< of remote write 2: the upstream's 2xx did not say what was written
    counter partly_written_requests;             ///< of remote write 2: the upstream's 2xx said less than was sent
    counter untranslated_histograms;             ///< with custom buckets, which remote write 1 has not
    counter untranslated_series;                 ///< entries that a store of remote write 1 would drop in silence
    counter_by<series_fault> series_left_out;    ///< entries that break a rule
    counter query_arguments_dropped;             ///< of senders' queries, see upstream.forwardQuery
    counter requests_discarded;                  ///< accepted and dropped because upstream.url is `discard:`

    alignas(64) counter samples_received;
    counter samples_left_out;  ///< of entries that break a rule
    counter samples_accepted;  ///< stored + failed + those that the upstream has yet to answer
    counter samples_refused;
    counter samples_refused_by_limits;  ///< of these, all but stale markers of unknown series; a counter of its own,
                                        ///< because the difference of two does not look like one to rate()
    counter samples_stored;             ///< the upstream has confirmed them
    counter samples_failed;             ///< it has not: an error, no answer, or a success that does not say so
    counter unknown_dropped;            ///< stale markers and exemplar-only entries of unknown series
    counter histograms_received;
    counter exemplars_received;
    counter metadata_received;

    limit_counters limit_samples_refused;   ///< adds up to samples_refused, until it forgets idle pairs
    limit_counters limit_samples_observed;  ///< accepted, by limits without room that only observe

    alignas(64) counter received_bytes;  ///< request bodies as sent, compressed
    counter decoded_bytes;               ///< the same, decompressed
};

/// Its families.
void write(exposition& out, const ingest_metrics& metrics);

}  // namespace seriesgate
