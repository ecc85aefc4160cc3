/// Translates remote write 2 to remote write 1, for upstreams without version 2.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate {

/// Entries and histograms that the translation leaves out.
struct translation_loss {
    std::uint32_t histograms = 0;  ///< with custom buckets: remote write 1 cannot express them

    /// Entries that receivers of remote write 1 drop silently, while those of version 2 report them: without a metric
    /// name, with a duplicate label, or with invalid UTF-8. Source: prometheus/prometheus
    /// storage/remote/write_handler.go, write and appendV2.
    struct {
        std::uint32_t series = 0;
        std::uint32_t samples = 0;
        std::uint32_t histograms = 0;
        std::uint32_t exemplars = 0;
        std::string first{};  ///< fault and labels of the first
    } invalid{};

    [[nodiscard]] bool any() const noexcept { return histograms != 0 || invalid.series != 0; }
};

/// Writes a `prometheus.WriteRequest` with the series of an `io.prometheus.write.v2.Request`.
///
/// - Labels, also of exemplars, are spelled out from the symbols, in their order.
/// - Samples and histograms are copied with their start timestamps, a field that parsers of remote write 1 skip. So are
///   exemplars, except for their labels.
/// - Metadata of series becomes one entry per family, after all series. The family is the metric's name without the
///   type's suffix, for example `_bucket` of a histogram.
/// - Histograms with custom buckets are left out, as in Prometheus: their buckets would be misread. A series with
///   nothing else is left out too.
/// - Series that a store would drop for their labels are left out, see translation_loss.
/// - Unknown fields are left out: in the other message their numbers may have another meaning.
///
/// Reuses its buffers. Threads: one at a time.
class translator {
    write_request_v2_reader reader_;
    std::string series_;  // payload being written; its length is written first
    std::string inner_;
    std::string metadata_;
    hash_key hash_;
    std::unordered_set<std::uint64_t> written_;  // hashes of this request's metadata that are written already
    std::string key_;
    std::vector<label_view> labels_;  // of the series being written
    std::vector<bytes_view> names_;   // of its labels

  public:
    /// @param key of hashes, so that no sender can make two that are equal.
    explicit translator(const hash_key& key) : hash_(key) {}

    /// @param body valid for write_request_v2_reader; not `out`.
    /// @param removed records of series to leave out, ascending, as for splice.
    /// @param out replaced; its capacity is reused. At most the size of the body plus twice its labels spelled out (see
    /// write_request_v2_reader::reset), since metadata may name a metric again, and a few bytes for each.
    translation_loss operator()(bytes_view body, std::span<const byte_range> removed, std::string& out);

  private:
    /// By field number in version 2: 1 type, 3 help_ref, 4 unit_ref.
    using metric_metadata = std::array<std::uint64_t, 5>;

    [[nodiscard]] std::string_view fault_of_labels();
    void leave_out(const series_view& series, std::string_view fault, translation_loss& lost) const;
    bool write_series(bytes_view payload, metric_metadata& metadata, translation_loss& lost);
    void write_exemplar(bytes_view exemplar);
    void write_metadata(const metric_metadata& metadata);
    void shrink();
};

}  // namespace seriesgate
