/// One decoded request in, one plan out: what goes upstream and what is left out, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/bytes.hpp"
#include "core/result.hpp"
#include "limit/limiter.hpp"
#include "plan/distinct_counter.hpp"
#include "series/fingerprint.hpp"
#include "wire/protocol.hpp"
#include "wire/write_request.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {

struct entry_counts {
    std::uint64_t samples = 0;     ///< samples and histograms
    std::uint64_t histograms = 0;  ///< part of samples
    std::uint64_t exemplars = 0;

    entry_counts& operator+=(const entry_counts& other) noexcept {
        samples += other.samples;
        histograms += other.histograms;
        exemplars += other.exemplars;
        return *this;
    }
    entry_counts& operator-=(const entry_counts& other) noexcept {
        samples -= other.samples;
        histograms -= other.histograms;
        exemplars -= other.exemplars;
        return *this;
    }
};

/// A series that was left out, for the log and the sender.
struct refusal {
    std::size_t entry = 0;  ///< for planner::labels
    byte_range record;
    offered_series series;
    verdict reason = verdict::refused_hourly;
};

enum class forwarding : std::uint8_t {
    unchanged,  ///< nothing refused: the sender's own bytes
    spliced,    ///< the request without the `removed` ranges
    nothing,    ///< all series refused, and no metadata is left
};

/// What was decided, in numbers: all that may be kept of a plan when the planner goes on to another request.
struct plan_counts {
    entry_counts received;
    entry_counts refused;
    std::uint64_t refused_series = 0;           ///< distinct within the request
    std::uint64_t refused_unknown_entries = 0;  ///< entries dropped as verdict::unknown
    std::uint32_t metadata = 0;
    std::uint32_t empty_entries =
        0;  ///< series entries with nothing but labels or metadata: they pass as metadata does

    [[nodiscard]] entry_counts accepted() const noexcept {
        entry_counts left = received;
        return left -= refused;
    }
};

/// Borrows from its planner, and is not to outlive the function that asked for it: keep the counts.
struct plan : plan_counts {
    forwarding forward = forwarding::unchanged;
    std::span<const byte_range> removed;   ///< ascending, disjoint; valid until the planner's next request
    std::optional<refusal> first_refusal;  ///< of a series that a budget refused
    std::span<const refusal> rejected;     ///< those to tell the sender of, up to rejected_max; valid as `removed`
};

/// Enough to name the limits that are spent.
inline constexpr std::size_t rejected_max = 32;

/// Walks a request, fingerprints its series, has them decided and says what to forward.
/// Reuses its buffers: one a worker. Threads: one at a time; planners of different threads share one admission.
class planner : label_source {
    /// Of the buffers for an entry that is refused: its index, verdict and range, its place among the distinct ones.
    static constexpr std::size_t decided_entry_bytes = 64;

    /// What the decision does not need to know about an entry.
    struct entry {
        byte_range record;
        std::uint32_t histograms;
        std::uint32_t exemplars;
    };

    write_request_reader reader_;
    write_request_v2_reader reader_v2_;
    label_hasher hasher_;
    std::vector<offered_series> offered_;
    std::vector<entry> entries_;  // as long as offered_
    std::vector<verdict> verdicts_;
    std::vector<byte_range> removed_;
    std::vector<refusal> rejected_;
    distinct_counter refused_series_;
    undecided scratch_;

    std::vector<label_view> labels_;  // of one entry
    hash_key key_;
    tenant_key tenant_;  // of the request
    std::uint32_t metadata_ = 0;
    std::uint32_t empty_entries_ = 0;  // see plan_counts
    protocol version_ = protocol::v1;
    std::size_t symbol_bytes_max_;

  public:
    /// @param ignored_labels see label_hasher.
    /// @param symbol_bytes_max see write_request_v2_reader::reset.
    explicit planner(const hash_key& key, const std::vector<std::string>& ignored_labels = {},
                     std::size_t symbol_bytes_max = symbol_bytes_per_request_max)
        : reader_(label_hasher{key, ignored_labels}),
          reader_v2_(label_hasher{key, ignored_labels}),
          hasher_(key, ignored_labels),
          key_(key),
          symbol_bytes_max_(symbol_bytes_max) {}

    /// @param body decoded, of the given version; must outlive the use of the plan.
    /// @return the plan, or what is wrong with the body; then nothing has been decided or counted.
    result<plan, wire_error> operator()(bytes_view body, series_limiter& limiter, time_point now,
                                        std::string_view tenant = {}, protocol version = protocol::v1);

    /// The first half of it, for who wants to know what the second one takes: reads all of the body.
    /// @return what is wrong with it; its code is wire_errc::none if nothing is.
    wire_error read(bytes_view body, std::string_view tenant, protocol version);
    /// The second half: decides about what has been read.
    result<plan, wire_error> decide(series_limiter& limiter, time_point now, std::string_view tenant);

    /// What is held for the body that has been read, and may come to be for deciding about it (but for
    /// selection_bytes_max). Bounded: some fifty times the body's size when its entries are as short as can be, one or
    /// two times for what senders send.
    [[nodiscard]] std::size_t bytes() const noexcept;

    /// When the plan is not needed any more: gives the memory of a giant back.
    void shrink();

    /// The labels of an entry of the last body. @return valid until the next call.
    std::span<const label_view> labels(std::size_t index) override;

  private:
    histogram_family family(std::span<const label_view> labels) override;
    template <class Reader>
    wire_error read_all(Reader& reader);
    plan collect();
};

}  // namespace seriesgate
