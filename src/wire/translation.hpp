/// Makes remote write 1 of remote write 2, for a store that knows no other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {

/// What is left out.
struct translation_loss {
    std::uint32_t histograms = 0;  ///< with custom buckets: remote write 1 has no words for them

    /// Entries that receivers of remote write 1 drop without a word, while those of version 2 report them: without a
    /// metric's name, with a label's name twice, or with what is no UTF-8. Source: prometheus/prometheus
    /// storage/remote/write_handler.go, write and appendV2.
    struct {
        std::uint32_t series = 0;
        std::uint32_t samples = 0;
        std::uint32_t histograms = 0;
        std::uint32_t exemplars = 0;
        std::string first{};  ///< what is wrong with the first, and its labels
    } invalid{};

    [[nodiscard]] bool any() const noexcept { return histograms != 0 || invalid.series != 0; }
};

/// Writes a `prometheus.WriteRequest` with the series of an `io.prometheus.write.v2.Request`.
///
/// - Labels, those of exemplars too, are written out from the symbols, in the order in which they stand.
/// - Samples and histograms are copied as they are, and keep their start timestamps: a field that remote write 1 does
///   not know, and its parsers pass over. So do exemplars but for their labels.
/// - What v2 says about the metric of each series becomes one metadata entry a family, behind all series. The family is
///   the metric's name without the suffix that its type adds: `_bucket` of a histogram, for example.
/// - Histograms with custom buckets are left out, as Prometheus leaves them out when it writes version 1: their buckets
///   would be taken for others. A series with nothing else is left out with them.
/// - Series whose labels a store would drop them for are left out, see translation_loss.
/// - Unknown fields of the request and its series are left out: in the other message their numbers may mean something
///   else.
///
/// Keeps its buffers from request to request. Threads: one at a time.
class translator {
    write_request_v2_reader reader_;
    std::string series_;  // the payload being written: its length goes before it
    std::string inner_;
    std::string metadata_;
    std::unordered_set<std::string, hash_key> told_;  // metadata of this request
    std::string key_;
    std::vector<label_view> labels_;  // of the series being written
    std::vector<bytes_view> names_;   // of its labels

  public:
    /// @param key of the tables that senders fill.
    explicit translator(const hash_key& key) : told_(0, key) {}

    /// @param body what write_request_v2_reader reads without an error; not the output.
    /// @param removed records of series to leave out, ascending, as for splice.
    /// @param out cleared, then filled; its capacity is reused. No larger than the body and its labels filled in (see
    ///        write_request_v2_reader::reset) and a few bytes for each.
    translation_loss operator()(bytes_view body, std::span<const byte_range> removed, std::string& out);

  private:
    struct metric_metadata {
        std::uint64_t type = 0;
        std::uint64_t help_ref = 0;
        std::uint64_t unit_ref = 0;
        friend bool operator==(const metric_metadata&, const metric_metadata&) = default;
    };

    [[nodiscard]] std::string_view fault_of_labels();
    void leave_out(const series_view& series, std::string_view fault, translation_loss& lost) const;
    bool write_series(bytes_view payload, metric_metadata& metadata, translation_loss& lost);
    void write_exemplar(bytes_view exemplar);
    void write_metadata(const metric_metadata& metadata);
    void shrink();
};

}  // namespace seriesgate
