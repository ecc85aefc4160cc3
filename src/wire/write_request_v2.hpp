/// Reads the series entries of a remote write 2 request (`io.prometheus.write.v2.Request`) without building messages.
///
/// Every top-level record of field 5 is a complete series entry, which can be kept or removed as a byte range. All
/// symbols stay, because entries refer to them by number. Format: proto/remote_write_v2.proto.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/series_reader.hpp"

namespace seriesgate {

/// Returns the series entries of a v2 Request in order, in the same form as remote write 1. Each symbol is hashed once.
/// Strict (see field_cursor): libprotobuf and gogo decode every accepted body to the same series. Beyond the format,
/// every reference must name a symbol (one store's handler panics otherwise). Label references must be pairs, and every
/// label must have a name. An entry that breaks such a rule is left out alone.
///
/// Symbols may follow the entries, so reset() reads the whole top level. Its errors come before the first series.
///
///     write_request_v2_reader reader{body};
///     while (reader.next()) use(reader.series());
///     if (reader.failed()) return reader.error();
///
/// A reader serves many requests (reset) and reuses its buffers. Threads: one at a time.
class write_request_v2_reader : public series_reader {
    /// A symbol, with its values for labels that refer to it.
    struct symbol_entry {
        byte_range text;
        std::uint64_t hash;
        std::uint64_t name_order;
    };

    std::vector<symbol_entry> symbols_;
    bool has_long_symbol_ = false;     // longer than a label may be
    std::vector<byte_range> records_;  // of the series entries: tag, length and payload
    std::size_t next_ = 0;             // index into records_
    // Neighbours often share their metric and metadata: the last record, and the bytes of its symbols.
    bytes_view last_metadata_;
    std::size_t last_metadata_symbol_bytes_ = 0;
    std::size_t symbol_bytes_ = 0;  // of all references so far
    std::size_t symbol_bytes_max_ = symbol_bytes_per_request_max;

  public:
    explicit write_request_v2_reader(label_hasher hasher = label_hasher{hash_key::known_to_all()})
        : series_reader(std::move(hasher)) {}
    explicit write_request_v2_reader(bytes_view body) : write_request_v2_reader{} { reset(body); }

    /// Starts a body of at most decoded_bytes_limit bytes, which must outlive the reading.
    /// @param symbol_bytes_max bound on the bytes of all references together; more is an error.
    void reset(bytes_view body, std::size_t symbol_bytes_max = symbol_bytes_per_request_max);
    /// Bytes of all labels of the entries read, with their symbols filled in.
    [[nodiscard]] std::size_t symbol_bytes() const noexcept { return symbol_bytes_; }

    /// Goes to the next series entry. @return false at the end or at the first error.
    bool next();
    /// As write_request_reader::left_out.
    [[nodiscard]] const left_out_series* left_out() const noexcept { return left_out_ ? &*left_out_ : nullptr; }
    /// As write_request_reader::labels.
    void labels(byte_range record, std::vector<label_view>& labels) const;
    /// @param ref read without an error.
    [[nodiscard]] bytes_view symbol(std::uint64_t ref) const noexcept {
        assert(ref < symbols_.size() && symbols_[ref].text.end() <= body_.size());
        return slice(body_, symbols_[ref].text);
    }
    [[nodiscard]] std::size_t bytes() const noexcept;
    /// Frees the memory of a giant. Call it between two bodies.
    void shrink();

  private:
    /// The label references of an entry, over all its runs: name, value, name, value.
    struct label_refs {
        std::size_t count = 0;
        std::size_t bytes = 0;
        bool is_value_next = false;  ///< after a name
        bool is_odd = false;
    };

    fault read_series(bytes_view payload);
    const char* read_plain_beginning(bytes_view payload, label_refs& seen);
    fault read_records(bytes_view records, label_refs& seen);
    const char* read_labels(bytes_view refs);
    void check_label_ref(std::uint64_t ref, label_refs& seen) noexcept;
    [[nodiscard]] fault check_exemplar(bytes_view exemplar) noexcept;
    [[nodiscard]] fault check_metadata(bytes_view metadata) noexcept;
    void check_ref(std::uint64_t ref) noexcept;
    void fail(wire_errc code, const char* at) noexcept;
};

}  // namespace seriesgate
