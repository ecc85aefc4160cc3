/// Completes the upstream's answer for the sender: written counts, refusals, errors.
#pragma once

#include <cstdint>
#include <optional>

#include "http/route_table.hpp"
#include "ingest/outgoing.hpp"
#include "net/http_fields.hpp"
#include "plan/plan.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

// --- Written counts of remote write 2.

/// Values of X-Prometheus-Remote-Write-*-Written.
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

/// Converts the counts of a plan, where histograms are also counted as samples.
written_counts written_of(const entry_counts& counts) noexcept;

/// @return nothing if all three headers are missing, or one is not a number. A missing one counts as 0.
/// Source: remote write 2.0, "Required Written Response Headers".
std::optional<written_counts> read_written(const http::fields& headers);

void write_written(const written_counts& counts, http::fields& headers);
void erase_written(http::fields& headers);

struct answer_rules {
    unsigned reject_status = 400;  ///< config::reject_status
    bool discards = false;         ///< upstream_config::discard
};

/// What the gate told a remote write 2 sender about the written counts.
enum class confirmation : std::uint8_t {
    none_due,  ///< nothing: an error, or remote write 1
    given,
    partial,  ///< the store confirmed less than it was sent
    missing,  ///< nothing, since the store sent no counts
};

/// Completes the upstream's answer, or the gate's own success if nothing was forwarded. Turns a success into an error,
/// and sets `answer.rejected`, where the sender must learn what was left out.
confirmation finish_answer(const outgoing& sent, const answer_rules& rules, reply& answer);

std::uint64_t sent_samples(const outgoing& sent);

/// Accepted samples that the upstream has confirmed.
/// @param answer the upstream's, before finish_answer().
std::uint64_t stored_samples(const outgoing& sent, const answer_rules& rules, const reply& answer);

// --- Answers to rejected requests.

/// For a body that does not decode, or exceeds a bound of the decoder.
reply malformed(const wire_error& error);

/// For a body that cannot be decompressed. @param decoded_bytes_max server.maxDecodedBytes
reply undecodable(const wire_error& error, std::uint64_t decoded_bytes_max);

}  // namespace seriesgate
