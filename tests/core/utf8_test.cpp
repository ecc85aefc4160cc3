#include "core/text.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::string_literals;

namespace {

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
