#include "top/line.hpp"

#include "support/catch.hpp"
#include "top/frame.hpp"

using namespace seriesgate::top;

TEST_CASE("characters that do something are shown as codes") {
    CHECK(fit_to_be_seen("a\x1b[2Jb\n\t\x7f") == "a\\x1b[2Jb\\x0a\\x09\\x7f");
    CHECK(fit_to_be_seen("\xc2\x9b") == "\\u009b");                // CSI in one character
    CHECK(fit_to_be_seen("\xe2\x80\xae") == "\\u202e");            // turns what follows around
    CHECK(fit_to_be_seen("a\xe2\x80\x8b") == "a\\u200b");          // a blank without width
    CHECK(fit_to_be_seen("\xf3\xa0\x81\x81") == "\\U000e0041");    // a tag, nothing to be seen
    CHECK(fit_to_be_seen("a\xf0\x9b\xb2\xa0") == "a\\U0001bca0");  // of a shorthand, nothing to be seen
    CHECK(fit_to_be_seen("\xff\xc3") == "\\xff\\xc3");
    CHECK(fit_to_be_seen(std::string{"\0", 1}) == "\\x00");
}

TEST_CASE("what can be seen stays, backslashes too") {
    for (const std::string text : {"a\\x1b \"größe\" 日", "e\xcc\x81"}) CHECK(fit_to_be_seen(text) == text);
}

TEST_CASE("marks do not pile up, and stand on something") {
    const std::string acute = "\xcc\x81";
    CHECK(fit_to_be_seen("e" + acute + acute + acute + "f" + acute) == "e" + acute + acute + "\\u0301f" + acute);
    CHECK(fit_to_be_seen(acute) == "\\u0301");
}

TEST_CASE("every text is fit to be seen after it has been made so") {
    for (int byte = 0; byte < 256; ++byte)
        for (const char* behind : {"", "\xcc\x81", "\x9b", "A"}) {
            const std::string once = fit_to_be_seen(static_cast<char>(byte) + std::string{behind});
            CHECK(fit_to_be_seen(once) == once);
            for (const char each : once) CHECK((static_cast<unsigned char>(each) >= 0x20 && each != 0x7f));
        }
}

TEST_CASE("columns are what a terminal takes for characters") {
    CHECK(columns_of("abc") == 3);
    CHECK(columns_of("größe") == 5);
    CHECK(columns_of("日本") == 4);
    CHECK(columns_of("e\xcc\x81") == 1);
    CHECK(columns_of("\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("what is too long is cut in its middle, between characters") {
    CHECK(shortened("abcdefghij", 10) == "abcdefghij");
    CHECK(shortened("abcdefghijk", 10) == "abcd...ijk");
    CHECK(shortened("abcdef", 3) == "abc");
    CHECK(shortened("abcdef", 0).empty());
    CHECK(shortened("日本日本", 7) == "日...本");
    CHECK(shortened("日本日本", 6) == "日...");  // one column is no room
    CHECK(shortened("abcdefghe\xcc\x81", 7) == "ab...he\xcc\x81");
    for (std::size_t columns = 0; columns < 12; ++columns)
        CHECK(columns_of(shortened("a日b本c\u0301defgh", columns)) <= columns);
}

TEST_CASE("long sentences are broken at blanks, long words anywhere") {
    CHECK(wrapped("one two three", 8) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("one two", 3) == std::vector<std::string>{"one", "two"});
    CHECK(wrapped("a abcdefghij", 4) == std::vector<std::string>{"a ab", "cdef", "ghij"});
    CHECK(wrapped("a\nb", 9) == std::vector<std::string>{"a\\x0ab"});
    CHECK(wrapped("", 9).empty());
}

TEST_CASE("a line knows its columns and is cut to fewer") {
    line made{"ab", tone::strong};
    made.add("\x1b").fill_to(8).add("|");
    CHECK(made.text() == "ab\\x1b  |");
    CHECK(made.columns() == 9);
    CHECK(made.cut_to(9).text() == made.text());
    CHECK(made.cut_to(4).text() == "ab\\>");
    CHECK(made.cut_to(0).columns() == 0);
    CHECK(made.cut_to(4).pieces().front().in == tone::strong);
    CHECK(line{"日本"}.cut_to(3).text() == "日>");
    CHECK(line{"a  "}.text() == "a");
    CHECK(line{"a  "}.cut_to(1).text() == "a");
}

TEST_CASE("a bar and its percentage are full only when all is used") {
    CHECK(percent(999, 1000) == 99);
    CHECK(percent(1000, 1000) == 100);
    CHECK(percent(1, 0) == 0);
    CHECK(percent(18446744073709551615U, 1) == 999);
    CHECK(bar(0, 10, 12) == "[----------]");
    CHECK(bar(999, 1000, 12) == "[#########-]");
    CHECK(bar(1000, 1000, 12) == "[##########]");
    CHECK(bar(5000, 1000, 12) == "[##########]");
    CHECK(bar(1, 1, 2) == "[]");
}
