#include "core/text.hpp"

#include "support/catch.hpp"

using namespace seriesgate;

namespace {

std::string character_of(char32_t code) {
    std::string out;
    append_utf8(out, code);
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
