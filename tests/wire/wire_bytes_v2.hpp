/// Remote write 2 made by hand, right and wrong, beside wire_bytes.hpp; and what the readers make of either version.
#pragma once

#include <initializer_list>

#include "series/reference_fingerprint.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"
#include "wire/wire_error.hpp"
#include "wire/write_request_v2.hpp"

namespace seriesgate::testing {

/// Records of symbols within a request.
inline std::string symbols(std::initializer_list<std::string_view> texts) {
    std::string out;
    for (const auto text : texts) out.append(len_field(4, text));
    return out;
}

/// One packed run of references within a series or an exemplar.
inline std::string refs(const std::vector<std::uint64_t>& numbers) {
    std::string packed;
    for (const auto number : numbers) packed.append(varint(number));
    return len_field(1, packed);
}

/// The same, each in a field of its own.
inline std::string unpacked_refs(std::initializer_list<std::uint64_t> numbers) {
    std::string out;
    for (const auto number : numbers) out.append(varint_field(1, number));
    return out;
}

/// Record of a series within a v2 request.
inline std::string entry(std::initializer_list<std::string_view> parts) {
    return len_field(5, join(parts));
}

/// Record of an integer histogram within a v2 series, with `sum` as bits.
inline std::string histogram_v2_bits(std::uint64_t sum) {
    return len_field(3, join({varint_field(1, 3), fixed64_field(3, sum), varint_field(15, 1700000000000)}));
}

/// Record of an exemplar within a v2 series.
inline std::string exemplar_v2(std::string_view references) {
    return len_field(4, join({references, fixed64_field(2, 0), varint_field(3, 1700000000000)}));
}

/// Record of metadata within a v2 series.
inline std::string metadata_v2(std::uint64_t help_ref, std::uint64_t unit_ref) {
    return len_field(5, join({varint_field(1, 1), varint_field(3, help_ref), varint_field(4, unit_ref)}));
}

/// A series as read, owning its bytes.
struct read_entry {
    std::string record;
    label_texts labels;
    std::uint32_t samples = 0;
    std::uint32_t histograms = 0;
    std::uint32_t exemplars = 0;
    bool admits = false;
};

struct read_request {
    std::vector<read_entry> series;  ///< without those that are left out
    std::vector<series_fault> left_out;
    std::uint32_t metadata = 0;
    wire_errc error = wire_errc::none;
    std::uint64_t offset = 0;
};

/// Reads all of `text`, in memory of exactly its size, so that a sanitizer sees one byte too many.
template <class Reader>
read_request read_by(const std::string& text) {
    const std::vector<char> bytes(text.begin(), text.end());
    const bytes_view body{bytes.data(), bytes.size()};
    read_request outcome;
    std::vector<label_view> buffer;
    Reader reader{body};
    while (reader.next()) {
        const series_view& seen = reader.series();
        if (const left_out_series* wrong = reader.left_out()) {
            outcome.left_out.push_back(wrong->fault);
            CHECK_FALSE((seen.holds_data() || seen.admits));
            reader.labels(seen.record, buffer);
            CHECK(buffer.size() <= labels_per_series_max);
            continue;
        }
        read_entry& series = outcome.series.emplace_back();
        series.record = slice(body, seen.record);
        reader.labels(seen.record, buffer);
        for (const label_view& label : buffer) series.labels.emplace_back(label.name, label.value);
        CHECK(seen.labels_hash == reference_labels_hash(series.labels));
        series.samples = seen.samples;
        series.histograms = seen.histograms;
        series.exemplars = seen.exemplars;
        series.admits = seen.admits;
    }
    outcome.metadata = reader.metadata_count();
    outcome.error = reader.error().code;
    outcome.offset = reader.error().offset;
    return outcome;
}

inline read_request read_v2(const std::string& text) {
    const read_request outcome = read_by<write_request_v2_reader>(text);
    CHECK(outcome.metadata == 0);
    return outcome;
}

/// The one entry of a request with the symbols "", "__name__", "up", "job", "a".
inline const std::string five_symbols = symbols({"", "__name__", "up", "job", "a"});

inline read_entry read_one_v2(std::initializer_list<std::string_view> parts) {
    auto outcome = read_v2(std::string{five_symbols}.append(entry(parts)));
    REQUIRE(outcome.error == wire_errc::none);
    REQUIRE(outcome.series.size() == 1);
    return outcome.series.front();
}

}  // namespace seriesgate::testing
