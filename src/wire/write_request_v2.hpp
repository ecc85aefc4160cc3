/// Walks a remote-write 2 request (`io.prometheus.write.v2.Request`) without building messages.
///
/// Every top-level record of field 5 is one complete series entry, so it can be kept or removed as a byte range; all
/// symbols stay, for the entries refer to them by number. Formats: proto/remote_write_v2.proto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/bytes.hpp"
#include "wire/canonical_labels.hpp"
#include "wire/sample_records.hpp"
#include "wire/wire_error.hpp"
#include "wire/write_request.hpp"

namespace seriesgate {

/// A bound like those of write_request.hpp: Prometheus sends some thousand symbols a request.
inline constexpr std::size_t symbols_per_request_max = 1 << 22;
/// Bounds of the names and values of a series, and of all that a request's references stand for (exemplars and metadata
/// too), filled in. Without them a symbol of 64 KiB that all labels refer to makes terabytes to hash or to write out of
/// a body of some megabytes.
inline constexpr std::size_t label_bytes_per_series_max = 1 << 20;
inline constexpr std::size_t symbol_bytes_per_request_max = 1 << 28;

/// Pulls the series entries out of a v2 Request, in order, as the same series_view that remote write 1 has: a label run
/// is written from the symbols, so that the same series has the same. Strict (see field_cursor): whatever it accepts,
/// libprotobuf and gogo decode to the same series. Beyond the format it asks that every reference names a symbol (one
/// store's handler panics otherwise), that label references come in pairs and that no label is without a name.
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
    bytes_view body_;
    std::vector<byte_range> symbols_;
    bool symbols_have_room_ = false;   // behind all of them stand bytes enough to copy them in whole words
    std::vector<byte_range> records_;  // of the series entries: tag, length and payload
    std::size_t next_ = 0;             // index into records_
    series_view series_;
    label_run_buffer run_;            // while labels_ is empty
    std::uint64_t name_prefix_ = 0;   // of the last name in run_
    bytes_view name_;                 // the same
    std::vector<label_view> labels_;  // once they turn out not to be a canonical set
    std::size_t label_count_ = 0;     // of the series
    std::size_t label_bytes_ = 0;     // likewise
    std::size_t symbol_bytes_ = 0;    // of all references so far
    std::size_t symbol_bytes_max_ = symbol_bytes_per_request_max;
    wire_error error_;

  public:
    write_request_v2_reader() = default;
    explicit write_request_v2_reader(bytes_view body) { reset(body); }

    /// Starts on a new body, which must outlive the reading. At most decoded_bytes_limit bytes.
    /// @param symbol_bytes_max what all references together may stand for; more is an error.
    void reset(bytes_view body, std::size_t symbol_bytes_max = symbol_bytes_per_request_max);

    /// Goes to the next series entry. @return false at the end or at the first error.
    bool next();
    /// Goes to a series entry by its number, 0 for the first; next() goes on behind it. @return as next().
    bool go_to(std::size_t entry);
    /// Valid until the next call of next() or go_to().
    [[nodiscard]] const series_view& series() const noexcept { return series_; }
    /// @param ref one that has been read without an error.
    [[nodiscard]] bytes_view symbol(std::uint64_t ref) const noexcept { return slice(body_, symbols_[ref]); }
    /// None: what v2 knows about a metric stands in its series entries.
    [[nodiscard]] std::uint32_t metadata_count() const noexcept { return 0; }
    [[nodiscard]] bool failed() const noexcept { return error_.code != wire_errc::none; }
    [[nodiscard]] wire_error error() const noexcept { return error_; }

  private:
    /// The name of a label whose value has yet to come, and where its reference stands.
    struct half_label {
        bytes_view name;
        const char* at = nullptr;  ///< null while there is none
    };

    fault read_series(bytes_view payload);
    std::size_t take_short_labels(bytes_view refs);
    void add_label(const label_view& label);
    fault take_label_ref(std::uint64_t ref, const char* at, half_label& half);
    [[nodiscard]] fault check_exemplar(bytes_view exemplar) noexcept;
    [[nodiscard]] fault check_metadata(bytes_view metadata) noexcept;
    [[nodiscard]] fault check_ref(std::uint64_t ref, const char* at) noexcept;
    void fail(wire_errc code, const char* at) noexcept;
};

}  // namespace seriesgate
