#include "top/view.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;

namespace {

key letter(char of) {
    return {.letter = of, .other = special::none};
}

key other(special of) {
    return {.letter = 0, .other = of};
}

}  // namespace

TEST_CASE("letters are read as they come") {
    CHECK(key_reader{}.read("mq\x03") == std::vector{letter('m'), letter('q'), letter('\x03')});
    CHECK(key_reader{}.read("\t") == std::vector{other(special::tab)});
}

TEST_CASE("arrows and their like are read in the forms that terminals send") {
    CHECK(key_reader{}.read("\x1b[A\x1bOB\x1b[5~\x1b[6~") ==
          std::vector{other(special::up), other(special::down), other(special::page_up), other(special::page_down)});
    CHECK(key_reader{}.read("\x1b[H\x1b[4~\x1b[Z") ==
          std::vector{other(special::home), other(special::end), other(special::back_tab)});
}

TEST_CASE("a key that comes in parts is one key") {
    key_reader reader;
    CHECK(reader.read("\x1b").empty());
    CHECK(reader.read("[").empty());
    CHECK(reader.read("5").empty());
    CHECK(reader.read("~n") == std::vector{other(special::page_up), letter('n')});
}

TEST_CASE("an escape character is a key when something else follows") {
    key_reader reader;
    CHECK(reader.read("\x1b").empty());
    CHECK(reader.read("q") == std::vector{other(special::escape), letter('q')});
}

TEST_CASE("keys that are not known are passed over whole") {
    CHECK(key_reader{}.read("\x1b[15~m") == std::vector{letter('m')});
    CHECK(key_reader{}.read("\x1b[<0;1;1Mj") == std::vector{letter('j')});
}

TEST_CASE("a sequence without an end is given up") {
    key_reader reader;
    CHECK(reader.read("\x1b[" + std::string(key_reader::sequence_bytes_max - 2, '0')).empty());
    CHECK(reader.read("0").empty());
    CHECK(reader.read("q") == std::vector{letter('q')});
}
