/// What the gate has counted since its start, as far as /stats says.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace seriesgate {

/// What has a reason or a status, by its name. Bounded: one for each that there is.
using named_counts = std::vector<std::pair<std::string, std::uint64_t>>;

struct request_counts {
    std::uint64_t total = 0;            ///< of ingestion, answered with any status
    std::uint64_t rejected = 0;         ///< of these, answered by the gate itself with 4xx
    std::uint64_t upstream_errors = 0;  ///< of these, answered by the gate itself with 502 or 504
    std::uint64_t unconfirmed = 0;      ///< of remote write 2: the store's 2xx did not say what was written
    std::uint64_t partly_written = 0;   ///< of remote write 2: the store's 2xx said less than it was sent
    named_counts by_status{};           ///< of `total`
    named_counts upstream_by_status{};  ///< the store's own answers
    named_counts rejected_by_reason{};  ///< all errors of the gate's own, on any path
    named_counts upstream_errors_by_reason{};
};

/// Native histograms are samples, too.
struct sample_counts {
    std::uint64_t received = 0;
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t left_out = 0;  ///< of series that break a rule; received = accepted + refused + left_out
    std::uint64_t stored = 0;
    std::uint64_t failed = 0;
};

/// What was left out of requests, though no limit refused it.
struct dropped_counts {
    std::uint64_t unknown_entries = 0;  ///< stale markers and exemplars of series that are not known
    named_counts left_out_series{};     ///< entries that break a rule, by what is wrong with them
    std::uint64_t untranslated_series = 0;
    std::uint64_t untranslated_histograms = 0;
};

struct connection_counts {
    std::int64_t open = 0;
    std::uint64_t accepted = 0;
    named_counts given_up_by_reason{};
    named_counts turned_away_by_reason{};
};

/// One address of a store.
struct backend_counts {
    std::string name;
    bool is_up = true;
    std::int64_t in_flight = 0;
    std::int64_t connections = 0;
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;  ///< of these, without an answer
};

struct store_counts {
    std::string name;
    bool is_replica = false;
    bool best_effort = false;
    std::int64_t waiting = 0;          ///< requests, for a connection
    std::uint64_t samples_stored = 0;  ///< by a replica
    std::uint64_t samples_failed = 0;
    std::vector<backend_counts> backends{};
};

/// A gate of the fleet, this one too.
struct fleet_gate_counts {
    std::string name;
    std::string version;
    std::int64_t seen_seconds_ago = 0;  ///< whole seconds since its last sign of life
};

/// What was asked of the store that a fleet counts in.
struct shared_counts {
    std::string state;       ///< "joining", "joined" or "away"
    std::string name_space;  ///< shared.namespace
    std::vector<fleet_gate_counts> gates{};
    std::uint64_t claims = 0;           ///< questions that were answered, each about up to 128 series
    std::uint64_t known = 0;            ///< series that some gate had been admitted with before
    std::uint64_t taken = 0;            ///< series that were admitted, and counted for all
    std::uint64_t refused = 0;          ///< series that a limit had no room for
    std::uint64_t unanswered = 0;       ///< series that got what shared.onUnavailable says
    std::uint64_t untold = 0;           ///< incumbents accepted at once, of which the store has yet to be told
    std::uint64_t owed = 0;             ///< newcomers let pass out of a share, of which the store has yet to be told
    std::int64_t waiting = 0;           ///< requests that wait for their turn to ask
    double clock_offset_seconds = 0.0;  ///< the store's clock less this gate's
    double latency_seconds = 0.0;       ///< of an answered claim, on average; 0 without any
};

/// What became of the samples that no limit was in the way of, in the last five minutes.
struct delivery_facts {
    bool is_discarded = false;  ///< there is no store
    std::uint64_t stored = 0, failed = 0;
    std::optional<std::chrono::sys_seconds> nothing_since{};  ///< they all fail, and when the last one was stored
    std::string why{};                                        ///< what is most often wrong then

    std::chrono::sys_seconds watched_since{};                ///< all here is of since then
    std::optional<std::chrono::sys_seconds> last_refused{};  ///< to some seconds, samples that a limit refused
    /// Samples refused in each of the last minutes, to some seconds; the last one is running. All 0 before
    /// watched_since.
    std::array<std::uint64_t, 60> refused_by_minute{};

    /// 1 if there were none.
    [[nodiscard]] double stored_share() const {
        return stored + failed == 0 ? 1 : static_cast<double>(stored) / static_cast<double>(stored + failed);
    }
};

struct gate_counts {
    request_counts requests{};
    sample_counts samples{};
    delivery_facts delivery{};
    dropped_counts dropped{};
    connection_counts connections{};
    std::vector<store_counts> stores{};     ///< the first one, then the replicas; none with `discard:`
    std::optional<shared_counts> shared{};  ///< of a gate in a fleet
};

// --- Whether samples reach the store: what became of those of the last minutes.

/// Remembers what had been counted every few seconds. Threads: one at a time.
class delivery_record {
  public:
    static constexpr auto interval = std::chrono::seconds{5};
    static constexpr auto window = std::chrono::minutes{5};
    /// When nothing has been stored for so long, although samples came, nothing is.
    static constexpr auto patience = std::chrono::seconds{10};

    void note(std::chrono::sys_seconds now, const gate_counts& counts);

    /// @param counts of now. @param has_store false with `discard:`.
    [[nodiscard]] delivery_facts facts(std::chrono::sys_seconds now, const gate_counts& counts, bool has_store) const;

  private:
    struct moment {
        std::chrono::sys_seconds when{};
        std::uint64_t stored = 0, failed = 0, refused = 0;
        named_counts faults{};  ///< what stores have done wrong, by what to call it
    };
    static moment moment_of(std::chrono::sys_seconds now, const gate_counts& counts);
    [[nodiscard]] const moment& before(std::chrono::sys_seconds when) const;
    using minutes = decltype(delivery_facts::refused_by_minute);
    [[nodiscard]] minutes until(std::chrono::sys_seconds now) const;

    std::chrono::sys_seconds watched_since_{};
    std::optional<std::chrono::sys_seconds> last_refused_{};
    minutes refused_{};  // the last one is that of minute_
    std::chrono::sys_time<std::chrono::minutes> minute_{};
    std::deque<moment> moments_{};            // the oldest first
    std::chrono::sys_seconds last_stored_{};  // or the first moment of all
};

/// One sentence.
std::string to_text(const delivery_facts& facts);

}  // namespace seriesgate
