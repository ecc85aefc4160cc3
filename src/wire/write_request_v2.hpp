/// Walks a remote-write 2 request (`io.prometheus.write.v2.Request`) without building messages.
///
/// Every top-level record of field 5 is one complete series entry, so it can be kept or removed as a byte range; all
/// symbols stay, for the entries refer to them by number. Formats: proto/remote_write_v2.proto.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/bytes.hpp"
#include "series/fingerprint.hpp"
#include "series/label.hpp"
#include "wire/label_walk.hpp"
#include "wire/sample_records.hpp"
#include "wire/wire_error.hpp"

namespace seriesgate {

/// Pulls the series entries out of a v2 Request, in order, as the same series_view that remote write 1 has. Each symbol
/// is hashed once. Strict (see field_cursor): whatever it accepts, libprotobuf and gogo decode to the same series.
/// Beyond the format it asks that every reference names a symbol (one store's handler panics otherwise), that label
/// references come in pairs and that no label is without a name: an entry that breaks that is left out alone.
///
/// The symbols may stand behind the entries, so the top level is read first and whole: an error there comes before
/// the first series.
///
///     write_request_v2_reader reader{body};
///     while (reader.next()) use(reader.series());
///     if (reader.failed()) return reader.error();
///
/// One reader serves many requests (reset), so that its buffers are allocated once.
/// Threads: one at a time.
class write_request_v2_reader {
    /// The text, and what a label that refers to it needs to know.
    struct symbol_entry {
        byte_range text;
        std::uint64_t hash;
        std::uint64_t name_order;
    };

    bytes_view body_;
    std::vector<symbol_entry> symbols_;
    bool has_long_symbol_ = false;     // longer than a label may be
    std::vector<byte_range> records_;  // of the series entries: tag, length and payload
    std::size_t next_ = 0;             // index into records_
    series_view series_;
    std::optional<left_out_series> left_out_;  // of the last entry
    label_walk labels_;
    label_hasher hasher_;
    std::vector<label_view> odd_labels_;  // of an entry that has not just one run of ascending labels
    // Neighbours are often of one metric, so their metadata is the same: the record, and what its references stand for.
    bytes_view last_metadata_;
    std::size_t last_metadata_symbol_bytes_ = 0;
    std::size_t unordered_labels_ = 0;
    std::size_t symbol_bytes_ = 0;  // of all references so far
    std::size_t symbol_bytes_max_ = symbol_bytes_per_request_max;
    wire_error error_;

  public:
    /// @param hasher says which labels count.
    explicit write_request_v2_reader(label_hasher hasher = label_hasher{hash_key::known_to_all()})
        : hasher_(std::move(hasher)) {}
    explicit write_request_v2_reader(bytes_view body) : write_request_v2_reader{} { reset(body); }

    /// Starts on a new body, which must outlive the reading. At most decoded_bytes_limit bytes.
    /// @param symbol_bytes_max what all references together may stand for; more is an error.
    void reset(bytes_view body, std::size_t symbol_bytes_max = symbol_bytes_per_request_max);

    /// Goes to the next series entry. @return false at the end or at the first error.
    bool next();
    /// Valid until the next call of next().
    [[nodiscard]] const series_view& series() const noexcept { return series_; }
    /// As write_request_reader::left_out.
    [[nodiscard]] const left_out_series* left_out() const noexcept { return left_out_ ? &*left_out_ : nullptr; }
    /// As write_request_reader::labels.
    void labels(byte_range record, std::vector<label_view>& labels) const;
    /// @param ref one that has been read without an error.
    [[nodiscard]] bytes_view symbol(std::uint64_t ref) const noexcept {
        assert(ref < symbols_.size() && symbols_[ref].text.end() <= body_.size());
        return slice(body_, symbols_[ref].text);
    }
    /// None: what v2 knows about a metric stands in its series entries.
    [[nodiscard]] std::uint32_t metadata_count() const noexcept { return 0; }
    /// As write_request_reader::unordered_labels.
    [[nodiscard]] std::size_t unordered_labels() const noexcept { return unordered_labels_; }
    [[nodiscard]] bool failed() const noexcept { return error_.code != wire_errc::none; }
    [[nodiscard]] wire_error error() const noexcept { return error_; }
    /// The memory that is held for the body.
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Between two bodies: gives the memory of a giant back.
    void shrink();

  private:
    /// What the references of an entry have come to, over all its runs: name, value, name, value.
    struct label_refs {
        std::size_t count = 0;
        std::size_t bytes = 0;
        bool is_value_next = false;  ///< there was a name
        bool is_odd = false;
    };

    fault read_series(bytes_view payload);
    const char* read_plain_beginning(bytes_view payload, label_refs& seen);
    fault read_records(bytes_view records, label_refs& seen);
    const char* read_labels(bytes_view refs);
    void check_label_ref(std::uint64_t ref, label_refs& seen) noexcept;
    void take_hashes() noexcept;
    void hash_odd_labels();
    [[nodiscard]] fault check_exemplar(bytes_view exemplar) noexcept;
    [[nodiscard]] fault check_metadata(bytes_view metadata) noexcept;
    void check_ref(std::uint64_t ref) noexcept;
    void leave_out(series_fault fault) noexcept;
    void fail(wire_errc code, const char* at) noexcept;
};

}  // namespace seriesgate
