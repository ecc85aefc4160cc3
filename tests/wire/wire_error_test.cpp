#include "wire/wire_error.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

constexpr auto last_code = wire_errc::request_symbol_bytes_over_limit;

}  // namespace

TEST_CASE("every error has a text of its own: one short printable line") {
    std::set<std::string> texts;
    for (unsigned code = 0; code <= static_cast<unsigned>(last_code); ++code) {
        const std::string text = to_string({static_cast<wire_errc>(code), 7});
        CAPTURE(code, text);
        CHECK(texts.insert(text).second);
        CHECK(text.size() < 120);
        CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; }));
        CHECK(text.find("unknown error") == std::string::npos);
    }
}

TEST_CASE("errors in the protobuf say at which byte, errors of the compression do not") {
    CHECK(to_string({wire_errc::truncated, 17}) ==
          "malformed protobuf: field runs past the end of its message at byte 17");
    CHECK(to_string({wire_errc::label_without_name, 0}) == "label without a name at byte 0");
    CHECK(to_string({wire_errc::series_over_limit, 5}) == "request with more than 1048576 series at byte 5");
    CHECK(to_string({wire_errc::labels_over_limit, 5}) == "series with more than 1024 labels at byte 5");
    CHECK(to_string({wire_errc::label_bytes_over_limit, 5}) ==
          "label name or value with more than 65536 bytes at byte 5");
    CHECK(to_string({wire_errc::symbols_over_limit, 5}) == "request with more than 4194304 symbols at byte 5");
    CHECK(to_string({wire_errc::symbol_ref_out_of_range, 5}) ==
          "reference to a symbol that is not in the request at byte 5");
    CHECK(to_string({wire_errc::symbol_refs_odd, 5}) ==
          "odd number of label references: a name without a value at byte 5");
    CHECK(to_string({wire_errc::series_label_bytes_over_limit, 5}) ==
          "series with more than 1048576 bytes of labels at byte 5");
    CHECK(to_string({wire_errc::request_symbol_bytes_over_limit, 5}) ==
          "request too large with its symbols filled in at byte 5");
    CHECK(to_string({wire_errc::snappy_corrupt, 0}) == "not a valid snappy block");
    CHECK(to_string({wire_errc::empty_body, 0}) == "empty body: not compressed");
    CHECK(to_string({wire_errc::snappy_framed, 0}) ==
          "snappy framing format: remote write wants the snappy block format");
}
