/// Reads the series entries of a remote write 1 request (`prometheus.WriteRequest`) without building messages.
///
/// Every top-level record of field 1 is a complete series entry, which can be kept or removed as a byte range. Format:
/// proto/remote_write_v1.proto.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "wire/field_cursor.hpp"
#include "wire/label_hash_cache.hpp"
#include "wire/series_reader.hpp"

namespace seriesgate {

/// Returns the series entries of a v1 WriteRequest in order. Strict (see field_cursor): libprotobuf, gogo and easyproto
/// decode every accepted body to the same series. Exemplars, histograms and metadata are checked too.
///
///     write_request_reader reader{body};
///     while (reader.next()) use(reader.series());
///     if (reader.failed()) return reader.error();
///
/// A reader serves many requests (reset) and reuses its buffers. It looks some entries ahead. Entries of the usual
/// form, with one sample at the end, are looked up in label_hash_cache; others are read label by label. Threads: one at
/// a time.
class write_request_reader : public series_reader {
    struct entry_ahead {
        const char* start;  ///< of its tag
        bytes_view payload;
        std::uint64_t value;        ///< of the plain sample at its end, if any
        std::uint64_t labels_hash;  ///< of the labels before it, if known
        std::uint64_t ignored_hash;
        bool is_known;
    };
    /// Twice the lookups in flight (see admitted_set::prefetch_distance): half have arrived when the first is used.
    static constexpr std::size_t ahead_max = 32;

    field_cursor fields_{{}};
    label_hash_cache* known_;  // null: every entry is read
    cache_admission credit_;
    std::array<entry_ahead, ahead_max> ahead_;
    std::array<bytes_view, ahead_max> ahead_labels_;   // bytes before a plain sample at the end, or empty
    std::array<std::uint64_t, ahead_max> ahead_keys_;  // of these, see labels_keys
    std::size_t ahead_at_ = 0;
    std::size_t ahead_count_ = 0;
    const char* labels_end_ = nullptr;  // end of the last entry's leading labels
    std::uint32_t series_count_ = 0;

  public:
    /// @param known shared only by readers with the same key and ignored labels; may be null.
    explicit write_request_reader(label_hasher hasher = label_hasher{hash_key::known_to_all()},
                                  label_hash_cache* known = nullptr)
        : series_reader(std::move(hasher)), known_(known) {}
    explicit write_request_reader(bytes_view body) : write_request_reader{} { reset(body); }

    /// Starts a body of at most decoded_bytes_limit bytes, which must outlive the reading.
    void reset(bytes_view body) noexcept;

    /// Goes to the next series entry. @return false at the end or at the first error.
    bool next() { return ahead_at_ != ahead_count_ || look_ahead() ? take_ahead() : read_next(); }
    /// The entry's fault and counts, which series() lacks then. Null: no fault.
    [[nodiscard]] const left_out_series* left_out() const noexcept {
        return left_out_ && !series_.holds_data() ? &*left_out_ : nullptr;
    }
    /// The labels of an entry in their order; of an entry with a fault, the first labels_per_series_max.
    /// @param record of its series_view.
    /// @param labels overwritten; they point into the body.
    void labels(byte_range record, std::vector<label_view>& labels) const;
    /// Frees the memory of a giant. Call it between two bodies.
    void shrink() { shrink_labels(); }

  private:
    bool look_ahead() noexcept;
    bool read_next();
    bool take_ahead();
    bool learn(std::uint64_t key) noexcept;
    bool begin_series(const char* start, bytes_view payload) noexcept;
    bool read_series(bytes_view payload);
    const char* read_labels(const char* at, const char* end);
    bool read_records(bytes_view records);
    bool hash_odd_labels();
    bool fail(wire_errc code, const char* at) noexcept;
};

}  // namespace seriesgate
