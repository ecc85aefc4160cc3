#include "series/label_matcher.hpp"

#include <re2/re2.h>

#include <random>

#include "core/text.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::value_pattern_test {
namespace {

value_pattern compiled(const std::string& pattern) {
    auto made = value_pattern::compile(pattern);
    CAPTURE(pattern);
    REQUIRE(made.has_value());
    return *made;
}

bool matches(const std::string& pattern, const std::string& value) {
    return compiled(pattern).matches(value);
}

bool is_simple(const std::string& pattern) {
    return !compiled(pattern).uses_regex();
}

std::string error_of(const std::string& pattern) {
    const auto made = value_pattern::compile(pattern);
    return made ? "" : made.error();
}

/// What Prometheus writes: `^(?s:...)$` over runes.
struct reference {
    re2::RE2 regex;

    explicit reference(const std::string& pattern) : regex("^(?s:" + pattern + ")$", re2::RE2::Quiet) {}
    [[nodiscard]] bool matches(const std::string& value) const {
        return re2::RE2::FullMatch(repaired_utf8(value), regex);
    }
};

TEST_CASE("a literal matches itself and nothing else") {
    const value_pattern pattern = value_pattern::literal("a.*");
    CHECK(pattern.matches("a.*"));
    CHECK_FALSE(pattern.matches("a.*x"));
    CHECK_FALSE(pattern.matches("abc"));
    CHECK_FALSE(pattern.matches(""));
    CHECK(value_pattern::literal("").matches(""));
    CHECK(value_pattern::literal("\xff\0"s).matches("\xff\0"s));
    CHECK_FALSE(value_pattern::literal("\xff").matches("\xfe"));
    CHECK_FALSE(value_pattern{}.matches(""));
}

TEST_CASE("patterns are anchored at both ends, and flags change what a line end is") {
    for (const std::string pattern : {"^up$", "(?:u)p", "(down|up)"}) {
        CHECK(matches(pattern, "up"));
        for (const char* other : {"ups", "sup", "up\n", "\nup", ""}) CHECK_FALSE(matches(pattern, other));
    }
    CHECK(matches("(?m)a$\n^b", "a\nb"));
    CHECK_FALSE(matches("(?-s)a.b", "a\nb"));
    CHECK(matches("(?i)ZÜRICH", "zürich"));
    CHECK_FALSE(error_of("a)|(b").empty());  // parentheses cannot break out of the anchors
}

TEST_CASE("the common patterns need no regular expression") {
    for (const char* pattern :
         {"", "up", "a|b|c", "a||b", "|", ".*", ".+", "foo.*", "foo.+", "up|ALERTS.*", "a.*|b.+|c",
          R"(10\.0\.0\.1:9100)", R"(a\.b.*)", R"(\|)", R"(\_\-\/)", "Zürich.*", "a b", "a:b-c/d"}) {
        CAPTURE(pattern);
        CHECK(is_simple(pattern));
    }
    for (const char* pattern : {".", "a.", ".a", ".*a", "a.*b", "a*", "a?", "[a]", "(a)", "^a", "a$", ".*?", ".+?",
                                R"(\d)", R"(\Qa\E)", "a{2}", "(?i)a", "2..", ".{1}"}) {
        CAPTURE(pattern);
        CHECK_FALSE(is_simple(pattern));
    }
    SECTION("and many prefixes are better off with one") {
        std::string pattern = "p0.*";
        for (int i = 1; i < 16; ++i) pattern += "|p" + std::to_string(i) + ".*";
        CHECK(is_simple(pattern));
        pattern += "|p16.*";
        CHECK_FALSE(is_simple(pattern));
        CHECK(matches(pattern, "p16x"));
        CHECK(matches(pattern, "p9x"));
        CHECK_FALSE(matches(pattern, "q"));
    }
}

TEST_CASE("alternatives of literals are all found") {
    std::string pattern = "ns0";
    for (int i = 1; i < 2000; ++i) pattern += "|ns" + std::to_string(i);
    const value_pattern many = compiled(pattern);
    CHECK_FALSE(many.uses_regex());
    for (int i = 0; i < 2000; ++i) CHECK(many.matches("ns" + std::to_string(i)));
    CHECK_FALSE(many.matches("ns2000"));
    CHECK_FALSE(many.matches("ns"));
    CHECK_FALSE(many.matches(""));
    CHECK_FALSE(many.matches(pattern));
}

TEST_CASE("the null pointer of a default view is an empty value like any other") {
    CHECK(compiled("[a]*").matches(bytes_view{}));
    CHECK_FALSE(compiled("[a]+").matches(bytes_view{}));
}

TEST_CASE("a byte that is not UTF-8 is one unknown character") {
    for (const std::string value : {"\xff", "\xc3", "\x80", "\xed"}) {
        CAPTURE(value);
        for (const char* pattern : {".", ".+", "[^a]", "[\\x{fffd}]"}) CHECK(matches(pattern, value));
        for (const char* pattern : {"[a]", "..", "ü.*", "[ü].*"}) CHECK_FALSE(matches(pattern, value));
        CHECK(matches("..", value + value));
        CHECK(matches("ab.+", "ab" + value));
    }
    CHECK(matches("...", "\xed\xa0\x80"));
    CHECK_FALSE(matches("..", "ü"));
}

TEST_CASE("null bytes are bytes") {
    CHECK(matches("a\0b"s, "a\0b"s));
    CHECK_FALSE(matches("a\0b"s, "a"));
    CHECK(matches("a.b", "a\0b"s));
    CHECK(matches("[\\0]a", "\0a"s));
}

TEST_CASE("what RE2 refuses is refused, in its words") {
    CHECK(error_of("(a") == "missing ): (a");
    CHECK(error_of("[a") == "missing ]: [a");
    for (const char* pattern : {"*a", "a|*"}) CHECK(error_of(pattern) == "no argument for repetition operator: *");
    for (const char* pattern : {"a**", "a.**"}) CHECK(error_of(pattern) == "bad repetition operator: **");
    CHECK(error_of("[z-a]") == "invalid character class range: z-a");
    CHECK(error_of("\\") == "trailing \\");
    for (const std::string escape : {"\\q", "\\1"})
        CHECK(error_of("a" + escape) == "invalid escape sequence: " + escape);
    for (const char* pattern : {"(?=a)", "a{1001}"}) CHECK_FALSE(error_of(pattern).empty());
    for (const char* pattern : {"a\xff", "[\xff]"}) CHECK(error_of(pattern) == "invalid UTF-8");
    SECTION("also what needs too much memory") {
        CHECK(error_of("((a{100}){100}){100}") == "invalid repetition size: {100}");
        CHECK(error_of("\\pL{1000}") == "pattern too large - compile failed");
    }
}

TEST_CASE("hostile values take time and memory within bounds") {
    // The subsets of an automaton of 500 states: more than fits, so RE2 falls back to simulating it.
    const value_pattern pattern = compiled(".*a[ab]{500}");
    std::minstd_rand random{1};
    std::string value(65536, 'b');
    for (char& c : value) c = random() % 2 == 0 ? 'a' : 'b';
    value[value.size() - 501] = 'a';
    CHECK(pattern.matches(value));
    value[value.size() - 501] = 'b';
    CHECK_FALSE(pattern.matches(value));
}

TEST_CASE("copies outlive what they were copied from") {
    auto original = std::make_unique<value_pattern>(compiled("[a-c]+"));
    const value_pattern copy = *original;
    original.reset();
    CHECK(copy.matches("abc"));
    CHECK_FALSE(copy.matches("abd"));
}

TEST_CASE("patterns match as pure RE2 does") {
    std::mt19937 random{GENERATE(1u, 2u, 3u, 4u)};
    const std::vector<std::string> pieces{"a",   "b",   "ab",  "ü",  ".",     ".*",   ".+",  "|",   "\\.",
                                          "\\|", "\\-", "\\_", "\\", "*",     "+",    "?",   "(",   ")",
                                          "[",   "]",   "{",   "}",  "{2}",   "^",    "$",   "[a]", "\n",
                                          "\\n", "(a)", "\\d", "-",  "(?:b)", "(?i)", "a|b", "]",   "東"};
    const std::vector<std::string> parts{"a", "b",  "ab",   "A",    "ü", ".", "|",   "-",
                                         "_", "\n", "\xff", "\xc3", "7", "]", "{2}", "東"};
    const auto draw = [&](const std::vector<std::string>& from, unsigned count_max) {
        std::string out;
        for (std::size_t count = random() % (count_max + 1); count > 0; --count) out += from[random() % from.size()];
        return out;
    };
    unsigned valid = 0;
    unsigned simple = 0;
    unsigned matched = 0;
    for (int round = 0; round < 5'000; ++round) {
        const std::string pattern = draw(pieces, 5);
        const auto made = value_pattern::compile(pattern);
        CAPTURE(pattern);
        if (made.has_value() != re2::RE2{pattern, re2::RE2::Quiet}.ok()) FAIL("only one of the two accepts it");
        if (!made) continue;
        const reference expectation{pattern};
        ++valid;
        simple += !made->uses_regex();
        for (int i = 0; i < 10; ++i) {
            const std::string value = draw(parts, 4);
            const bool expected = expectation.matches(value);
            matched += expected;
            CAPTURE(value);
            if (made->matches(value) != expected) FAIL("RE2 says " << expected);
        }
    }
    CHECK(valid > 1500);
    CHECK(simple > 500);
    CHECK(matched > 1500);
}

}  // namespace
}  // namespace seriesgate::testing::value_pattern_test
