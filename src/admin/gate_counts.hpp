/// Counts of the gate since its start for /stats and the pages, and whether samples reach the store.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seriesgate {

/// Counts by reason or status; bounded by the number of reasons.
using named_counts = std::vector<std::pair<std::string, std::uint64_t>>;

struct request_counts {
    std::uint64_t total = 0;            ///< of ingestion, answered with any status
    std::uint64_t rejected = 0;         ///< with 4xx, by the gate
    std::uint64_t upstream_errors = 0;  ///< with 502 or 504, by the gate
    std::uint64_t unconfirmed = 0;      ///< remote write 2: the store's 2xx did not say what was written
    std::uint64_t partly_written = 0;   ///< remote write 2: the store's 2xx confirmed less than was sent
    named_counts by_status{};           ///< of `total`
    named_counts upstream_by_status{};  ///< the store's own answers
    named_counts rejected_by_reason{};  ///< all errors of the gate, on any path
    named_counts upstream_errors_by_reason{};
};

/// Samples include native histograms.
struct sample_counts {
    std::uint64_t received = 0;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t refused_by_limits = 0;  ///< part of refused: without stale markers of unknown series
    std::uint64_t left_out = 0;           ///< of series that break a rule; received = accepted + refused + left_out
    std::uint64_t stored = 0;
    std::uint64_t failed = 0;
};

/// Data left out of requests for other reasons than limits.
struct dropped_counts {
    std::uint64_t unknown_entries = 0;  ///< stale markers and exemplars of unknown series
    named_counts left_out_series{};     ///< entries that break a rule, by fault
    std::uint64_t untranslated_series = 0;
    std::uint64_t untranslated_histograms = 0;
};

struct connection_counts {
    std::int64_t open = 0;
    std::uint64_t accepted = 0;
    named_counts given_up_by_reason{};
    named_counts turned_away_by_reason{};
};

struct backend_counts {
    std::string name;
    bool is_up = true;
    std::int64_t in_flight = 0;
    std::int64_t connections = 0;
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;  ///< of `requests`: without an answer
};

struct store_counts {
    std::string name;
    bool is_replica = false;
    bool best_effort = false;
    std::int64_t waiting = 0;          ///< requests waiting for a connection
    std::uint64_t samples_stored = 0;  ///< by a replica
    std::uint64_t samples_failed = 0;
    std::vector<backend_counts> backends{};
};

struct fleet_gate_counts {
    std::string name;
    std::string version;
    std::int64_t seen_seconds_ago = 0;  ///< whole seconds since its last heartbeat
};

/// Requests to the shared store of a fleet.
struct shared_counts {
    std::string state;         ///< as name_of(store_reach) has it
    std::string name_space{};  ///< shared.namespace
    std::vector<fleet_gate_counts> gates{};
    named_counts counts{};              ///< by their keys in docs/stats.md
    double clock_offset_seconds = 0.0;  ///< the store's clock minus this gate's
    double latency_seconds = 0.0;       ///< mean of answered claims; 0 without any
};

/// Delivery of accepted samples in the last five minutes.
struct delivery_facts {
    bool is_discarded = false;  ///< upstream.url is `discard:`
    std::uint64_t stored = 0, failed = 0;
    std::optional<std::chrono::sys_seconds> nothing_since{};  ///< last stored sample, if all failed since
    std::string why{};                                        ///< the most frequent fault since
    std::string failing_replica{};  ///< then the first store takes what it is sent; mostly empty

    std::chrono::sys_seconds watched_since{};                ///< start of the record
    std::optional<std::chrono::sys_seconds> last_refused{};  ///< last refusal by a limit, to some seconds
    /// Refused samples in each of the last minutes, to some seconds; the last minute is running. 0 before
    /// watched_since.
    std::array<std::uint64_t, 60> refused_by_minute{};

    /// 1 if there were no samples.
    [[nodiscard]] double stored_share() const {
        return stored + failed == 0 ? 1 : static_cast<double>(stored) / static_cast<double>(stored + failed);
    }
};

/// See warm_series.
struct warm_counts {
    std::string_view state;
    std::uint64_t series = 0;
    std::uint64_t younger = 0;
    std::uint64_t without_room = 0;
    std::uint64_t names = 0;
    std::uint64_t names_read = 0;
    std::uint64_t names_in_part = 0;
    std::optional<double> met{};  ///< nothing: not known yet
};

struct gate_counts {
    request_counts requests{};
    sample_counts samples{};
    delivery_facts delivery{};
    dropped_counts dropped{};
    connection_counts connections{};
    std::vector<store_counts> stores{};  ///< the first store, then the replicas; none with `discard:`
    std::optional<shared_counts> shared{};
    std::optional<warm_counts> warm{};  ///< nothing: no warm start is configured
};

}  // namespace seriesgate
