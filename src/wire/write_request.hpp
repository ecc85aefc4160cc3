/// Walks a remote-write request without building messages, and cuts series out of it.
///
/// Remote write 1 (`prometheus.WriteRequest`): every top-level record of field 1 is one complete series entry, so it
/// can be kept or removed as a byte range. Formats: proto/remote_write_v1.proto.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"
#include "wire/field_cursor.hpp"
#include "wire/label_hash_cache.hpp"
#include "wire/label_walk.hpp"
#include "wire/sample_records.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// Pulls the series entries out of a v1 WriteRequest, in order. Strict (see field_cursor): whatever it accepts,
/// libprotobuf, gogo and easyproto decode to the same series. Exemplars, histograms and metadata are checked too.
///
///     write_request_reader reader{body};
///     while (reader.next()) use(reader.series());
///     if (reader.failed()) return reader.error();
///
/// One reader serves many requests (reset), so that its buffers are allocated once. It looks some entries ahead: those
/// that end as nearly all do, with one sample, are looked up by the bytes of their labels (label_hash_cache), and only
/// what is not found is read label by label. Threads: one at a time.
class write_request_reader {
    /// An entry that has been seen, and may be known.
    struct entry_ahead {
        const char* start;  ///< of its tag
        bytes_view payload;
        std::uint64_t value;        ///< of the plain sample at its end, if it has one
        std::uint64_t labels_hash;  ///< of what stands before that, if it is known
        std::uint64_t ignored_hash;
        bool is_known;
    };
    /// Twice as many as there are lookups in flight at once (see admitted_set::prefetch_distance): half of them has
    /// come when the first is wanted.
    static constexpr std::size_t ahead_max = 32;

    bytes_view body_;
    field_cursor fields_{{}};
    series_view series_;
    label_walk labels_;
    label_hasher hasher_;
    label_hash_cache* known_;  // null: every entry is read
    cache_admission credit_;
    std::array<entry_ahead, ahead_max> ahead_;
    std::array<bytes_view, ahead_max> ahead_labels_;   // all that stands before a plain sample at the end; else none
    std::array<std::uint64_t, ahead_max> ahead_keys_;  // of these, see labels_keys
    std::size_t ahead_at_ = 0;
    std::size_t ahead_count_ = 0;
    const char* labels_end_ = nullptr;    // of the entry that was read last: where the labels end that it begins with
    std::vector<label_view> odd_labels_;  // of an entry that has not just one run of ascending labels
    std::optional<left_out_series> left_out_;  // of the last entry that was read by its records
    std::uint32_t series_count_ = 0;
    std::size_t unordered_labels_ = 0;
    std::uint32_t metadata_ = 0;
    wire_error error_;

  public:
    /// @param hasher says which labels count.
    /// @param known of readers with the same key and the same labels that count, and no others; may be null.
    explicit write_request_reader(label_hasher hasher = label_hasher{hash_key::known_to_all()},
                                  label_hash_cache* known = nullptr)
        : hasher_(std::move(hasher)), known_(known) {}
    explicit write_request_reader(bytes_view body) : write_request_reader{} { reset(body); }

    /// Starts on a new body, which must outlive the reading. At most decoded_bytes_limit bytes.
    void reset(bytes_view body) noexcept;

    /// Goes to the next series entry. @return false at the end or at the first error.
    bool next();
    /// Valid until the next call of next().
    [[nodiscard]] const series_view& series() const noexcept { return series_; }
    /// What is wrong with the entry, and its counts, which series() does not have then. Null: nothing is wrong.
    [[nodiscard]] const left_out_series* left_out() const noexcept {
        return left_out_ && !series_.holds_data() ? &*left_out_ : nullptr;
    }
    /// The labels of an entry that has been read, in the order in which they stand: all, or of one that is left out the
    /// first labels_per_series_max.
    /// @param record of its series_view.
    /// @param labels overwritten; they point into the body.
    void labels(byte_range record, std::vector<label_view>& labels) const;
    /// Metadata entries passed so far.
    [[nodiscard]] std::uint32_t metadata_count() const noexcept { return metadata_; }
    /// Labels of series whose labels are in no order, so far: they take longest.
    [[nodiscard]] std::size_t unordered_labels() const noexcept { return unordered_labels_; }
    [[nodiscard]] bool failed() const noexcept { return error_.code != wire_errc::none; }
    [[nodiscard]] wire_error error() const noexcept { return error_; }
    /// Between two bodies: gives the memory of a giant back.
    void shrink();

  private:
    bool look_ahead() noexcept;
    bool take_ahead();
    bool learn(std::uint64_t key) noexcept;
    bool begin_series(const char* start, bytes_view payload) noexcept;
    bool read_series(bytes_view payload);
    const char* read_labels(const char* at, const char* end);
    bool read_records(bytes_view records);
    void leave_out(series_fault fault) noexcept;
    bool hash_odd_labels();
    bool fail(wire_errc code, const char* at) noexcept;
};

// --- Records of a v1 WriteRequest of which nothing is wanted but that they are well formed. Internal to wire.

fault check_exemplar(bytes_view exemplar) noexcept;
fault check_metadata(bytes_view metadata) noexcept;

}  // namespace seriesgate
