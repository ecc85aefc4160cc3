/// What the sender is told about its request, on top of what the upstream says.
#pragma once

#include <cstdint>
#include <optional>

#include "http/route_table.hpp"
#include "ingest/outgoing.hpp"
#include "net/http_fields.hpp"
#include "plan/plan.hpp"

namespace seriesgate {

// --- What a remote-write 2 sender is told about how much was written.

/// Samples, histograms and exemplars of X-Prometheus-Remote-Write-*-Written.
struct written_counts {
    std::uint64_t samples = 0;
    std::uint64_t histograms = 0;
    std::uint64_t exemplars = 0;

    written_counts& operator+=(const written_counts& other) noexcept {
        samples += other.samples;
        histograms += other.histograms;
        exemplars += other.exemplars;
        return *this;
    }
    friend bool operator==(const written_counts&, const written_counts&) = default;
};

/// The counts of a plan, where histograms are samples too.
written_counts written_of(const entry_counts& counts) noexcept;

/// @return nothing if none of the three headers is there, or one is no number. One that is missing counts 0.
/// Source: remote write 2.0, "Required Written Response Headers".
std::optional<written_counts> read_written(const http::fields& headers);

/// Sets the three headers.
void write_written(const written_counts& counts, http::fields& headers);
void erase_written(http::fields& headers);

/// What the configuration has to do with answers.
struct answer_rules {
    unsigned reject_status = 400;  ///< config::reject_status
    bool discards = false;         ///< upstream_config::discard
};

/// What a sender of remote write 2 has been told about how much was written.
enum class confirmation : std::uint8_t {
    none_due,  ///< nothing: it was an error, or remote write 1, which says nothing
    given,
    partial,  ///< the store has said less than it was sent
    missing,  ///< nothing, for the store has not said it
};

/// Completes the upstream's answer, or the gate's own success where nothing was forwarded. A success becomes an error
/// where the sender is to be told of what was left out; `answer.rejected` says so then.
confirmation tell_sender(const outgoing& sent, const answer_rules& rules, reply& answer);

/// Those that a store is sent.
std::uint64_t sent_samples(const outgoing& sent);

/// Accepted samples of which the upstream says that it has them.
/// @param answer as it came, before tell_sender.
std::uint64_t stored_samples(const outgoing& sent, const answer_rules& rules, const reply& answer);

}  // namespace seriesgate
