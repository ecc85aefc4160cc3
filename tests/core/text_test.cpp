#include "core/text.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::string character_of(char32_t code) {
    std::string out;
    append_utf8(out, code);
    return out;
}

constexpr bool is_surrogate(char32_t c) {
    return c >= 0xd800 && c <= 0xdfff;
}

/// Surrogates too, which append_utf8 does not write.
std::string encoded(char32_t c) {
    const auto byte = [](char32_t value) { return static_cast<char>(static_cast<unsigned char>(value)); };
    if (is_surrogate(c)) return {'\xed', byte(0x80 | (c >> 6 & 0x3f)), byte(0x80 | (c & 0x3f))};
    std::string out;
    append_utf8(out, c);
    return out;
}

}  // namespace

TEST_CASE("what gives orders to a terminal or turns text around is no text") {
    for (const char32_t code : {U'\0', U'\a', U'\n', U'\x1b', U'\x1f', U'\x7f', U'\x80', U'\x9b', U'\x9f', U'\x061c',
                                U'\x200e', U'\x200f', U'\x2028', U'\x2029', U'\x202a', U'\x202e', U'\x2066', U'\x2069'})
        CHECK(is_control_character(character_of(code)));
    for (const char32_t code : {U' ', U'~', U'\xa0', U'ü', U'\x061b', U'\x200d', U'\x2010', U'\x2027', U'\x202f',
                                U'\x2065', U'\x206a', U'\xfffd', U'\x1f600', U'\x10ffff'})
        CHECK_FALSE(is_control_character(character_of(code)));
}

TEST_CASE("what nobody can see does not make two names of one") {
    for (const char32_t code : {U'\xad', U'\x115f', U'\x200b', U'\x200d', U'\x2060', U'\x3164', U'\xfe0f', U'\xfeff',
                                U'\xffa0', U'\xe0041', U'\xe0100'}) {
        CHECK(is_invisible(character_of(code)));
        CHECK_FALSE(is_seen(character_of(code)));
    }
    for (const char32_t code : {U' ', U'a', U'\xa0', U'\xe4', U'\x4e2d', U'\x1f600'})
        CHECK(is_seen(character_of(code)));
    CHECK_FALSE(is_seen("\n"));
}

TEST_CASE("a character's code has the length of its kind") {
    const auto code = [](std::string_view character) {
        std::string out;
        append_code(out, character);
        return out;
    };
    CHECK(code("\x1b") == R"(\x1b)");
    CHECK(code("\xff") == R"(\xff)");
    CHECK(code("\u009b") == R"(\u009b)");
    CHECK(code("\u202e") == R"(\u202e)");
    CHECK(code("\U000e0041") == R"(\U000e0041)");
}

TEST_CASE("numbers have groups of three digits, and only one is singular") {
    CHECK(counted(0, "sample") == "0 samples");
    CHECK(counted(1, "sample") == "1 sample");
    CHECK(counted(2, "request") == "2 requests");
    CHECK(grouped(0) == "0");
    CHECK(grouped(999) == "999");
    CHECK(grouped(1'000) == "1,000");
    CHECK(grouped(1'234'567) == "1,234,567");
    CHECK(grouped(18446744073709551615U) == "18,446,744,073,709,551,615");
}

TEST_CASE("an estimate says so, and has no more digits than are known") {
    CHECK(count_text(6'422, true) == "6,422");
    CHECK(count_text(6'422, false) == "about 6,400");
    CHECK(count_text(6'450, false) == "about 6,500");
    CHECK(count_text(9'960, false) == "about 10,000");
    CHECK(count_text(17'803, false) == "about 17,800");
    CHECK(count_text(1'025, false) == "about 1,030");
    CHECK(count_text(7, false) == "about 7");
    CHECK(count_text(18446744073709551615U, false) == "about 18,400,000,000,000,000,000");
}

TEST_CASE("a duration has two units at most") {
    CHECK(duration_text(0s) == "0 s");
    CHECK(duration_text(59s) == "59 s");
    CHECK(duration_text(60s) == "1 min");
    CHECK(duration_text(59min + 59s) == "59 min");
    CHECK(duration_text(60min) == "1 h 0 min");
    CHECK(duration_text(3h + 4min + 5s) == "3 h 4 min");
    CHECK(duration_text(23h + 59min + 59s) == "23 h 59 min");
    CHECK(duration_text(24h) == "1 d 0 h");
    CHECK(duration_text(24h * 400 + 5h) == "400 d 5 h");
}

TEST_CASE("every code point but the surrogates is one character") {
    for (char32_t c = 0; c <= 0x10ffff; ++c) {
        const std::string text = encoded(c);
        const std::size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (text.size() != size || utf8_size(text) != (is_surrogate(c) ? 0 : size))
            FAIL("code point " << std::uint32_t{c});
        // A cut character is none.
        if (size > 1 && utf8_size(bytes_view{text}.substr(0, size - 1)) != 0) FAIL("cut " << std::uint32_t{c});
    }
}

TEST_CASE("exactly the well-formed sequences are characters") {
    // All sequences of one to three bytes, and of four with the last one in the middle of the continuations.
    std::size_t well_formed = 0;
    for (unsigned a = 0; a < 256; ++a)
        for (unsigned b = 0; b < 256; ++b)
            for (unsigned c = 0; c < 256; ++c) {
                const char bytes[] = {static_cast<char>(a), static_cast<char>(b), static_cast<char>(c), '\xa0'};
                well_formed += utf8_size({bytes, 4}) == 4;
                if (a < 0xe0 && b != 0) continue;
                if (utf8_size({bytes, 3}) == 3) ++well_formed;
            }
    // U+10000 to U+10FFFF with one of 64 last bytes, and U+0800 to U+FFFF without the surrogates.
    CHECK(well_formed == 0x100000 / 64 + 0xf800 - 0x800);
}

TEST_CASE("what is not UTF-8 is told") {
    CHECK(is_utf8(""));
    CHECK(is_utf8("plain"));
    CHECK(is_utf8("a long text in plain ASCII, more than eight bytes"));
    CHECK(is_utf8("Zürich 東京 🚀 and back"));
    CHECK(is_utf8("\0"s));
    CHECK_FALSE(is_utf8("\x80"));
    CHECK_FALSE(is_utf8("eightbyt\xff"));
    CHECK_FALSE(
        is_utf8("\xff"
                "eightbyt"));
    CHECK_FALSE(is_utf8("\xc0\x80"));          // two bytes for U+0000
    CHECK_FALSE(is_utf8("\xe0\x9f\xbf"));      // three for U+07FF
    CHECK_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));  // four for U+FFFF
    CHECK_FALSE(is_utf8("\xed\xa0\x80"));      // a surrogate
    CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));  // U+110000
    CHECK_FALSE(is_utf8("Z\xc3"));
}

TEST_CASE("each byte that belongs to no character becomes U+FFFD") {
    CHECK(repaired_utf8("") == "");
    CHECK(repaired_utf8("Zürich") == "Zürich");
    CHECK(repaired_utf8("a\xff"
                        "b") == "a\ufffdb");
    CHECK(repaired_utf8("\xed\xa0\x80") == "\ufffd\ufffd\ufffd");
    CHECK(repaired_utf8("\xe6\x9d") == "\ufffd\ufffd");
    CHECK(repaired_utf8("\xc3ü") == "\ufffdü");
}
