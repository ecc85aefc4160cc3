#include "wire/wire_error.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

constexpr auto last_code = wire_errc::request_symbol_bytes_over_limit;

TEST_CASE("each fault of a series has a name and a sentence of its own") {
    std::set<std::string> texts;
    for (std::size_t i = 0; i < static_cast<std::size_t>(series_fault::count_); ++i) {
        const auto fault = static_cast<series_fault>(i);
        CHECK(texts.insert(to_string(fault)).second);
        CHECK(texts.insert(std::string{name_of(fault)}).second);
    }
    CHECK(texts.find("an unknown fault") == texts.end());
    CHECK(to_string(series_fault::label_too_long) == "a label name or value of more than 262144 bytes");
    CHECK(name_of(series_fault::label_too_long) == "label_too_long");
}

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
    CHECK(to_string({wire_errc::series_over_limit, 5}) == "request with more than 1048576 series at byte 5");
    CHECK(to_string({wire_errc::field_of_version_2, 5}) ==
          "field of remote write 2 in a request of version 1 at byte 5");
    CHECK(to_string({wire_errc::symbols_over_limit, 5}) == "request with more than 4194304 symbols at byte 5");
    CHECK(to_string({wire_errc::request_symbol_bytes_over_limit, 5}) ==
          "request too large with its symbols filled in at byte 5");
    CHECK(to_string({wire_errc::snappy_corrupt, 0}) == "not a valid snappy block");
    CHECK(to_string({wire_errc::empty_body, 0}) == "empty body: not compressed");
    CHECK(to_string({wire_errc::snappy_framed, 0}) ==
          "snappy framing format: remote write wants the snappy block format");
}
