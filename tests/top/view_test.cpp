#include "top/view.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;

namespace {

wish press_letter(view& seen, char pressed) {
    return press(seen, {.letter = pressed, .other = special::none}, 5);
}

wish press_other(view& seen, special pressed) {
    return press(seen, {.letter = 0, .other = pressed}, 5);
}

key letter(char of) {
    return {.letter = of, .other = special::none};
}

key other(special of) {
    return {.letter = 0, .other = of};
}

}  // namespace

TEST_CASE("letters choose what is asked") {
    view seen;
    for (const auto& [pressed, by] :
         {std::pair{'l', "label"}, {'j', "job"}, {'s', "sender"}, {'t', "tenant"}, {'m', "metric"}}) {
        CHECK(press_letter(seen, pressed) == wish::ask);
        CHECK(seen.asked.by == by);
    }
    CHECK(press_letter(seen, 'r') == wish::ask);
    CHECK(press_letter(seen, 'd') == wish::ask);
    CHECK(seen.asked == question{.by = "metric", .refused = true, .daily = true});
    CHECK(press_letter(seen, 'n') == wish::ask);
    CHECK(press_letter(seen, 'h') == wish::ask);
    CHECK(seen.asked == question{});
}

TEST_CASE("the part that is looked at scrolls, and another one begins at its top") {
    view seen;
    CHECK(press_other(seen, special::up) == wish::draw);
    CHECK(seen.scroll == 0);
    press_other(seen, special::down);
    press_other(seen, special::page_down);
    CHECK(seen.scroll == 6);
    press_other(seen, special::page_up);
    CHECK(seen.scroll == 1);
    CHECK(press_other(seen, special::tab) == wish::draw);
    CHECK(seen.focus == part::budgets);
    CHECK(seen.scroll == 0);
    press_other(seen, special::end);
    CHECK(seen.scroll > 1000);
    press_other(seen, special::home);
    CHECK(seen.scroll == 0);
}

TEST_CASE("all parts are come to, in either direction") {
    view seen;
    for (const part each : {part::budgets, part::refused, part::stores, part::findings, part::top}) {
        press_other(seen, special::tab);
        CHECK(seen.focus == each);
    }
    press_other(seen, special::back_tab);
    CHECK(seen.focus == part::findings);
    press_other(seen, special::back_tab);
    CHECK(seen.focus == part::stores);
}

TEST_CASE("remedies are shown where the findings are") {
    view seen;
    CHECK(press_letter(seen, 'x') == wish::draw);
    CHECK(seen.shows_remedies);
    CHECK(seen.focus == part::findings);
    press_letter(seen, 'x');
    CHECK_FALSE(seen.shows_remedies);
}

TEST_CASE("keys end it, and help comes and goes") {
    view seen;
    CHECK(press_letter(seen, 'q') == wish::quit);
    CHECK(press_letter(seen, '\x03') == wish::quit);
    CHECK(press_letter(seen, '\x1a') == wish::suspend);
    CHECK(press_letter(seen, ' ') == wish::ask);
    CHECK(press_letter(seen, '?') == wish::draw);
    CHECK(seen.shows_help);
    CHECK(press_other(seen, special::escape) == wish::draw);
    CHECK_FALSE(seen.shows_help);
    CHECK(press_letter(seen, 'z') == wish::nothing);
}

TEST_CASE("letters are read as they come, and keys that are not known are passed over whole") {
    CHECK(key_reader{}.read("mq\x03") == std::vector{letter('m'), letter('q'), letter('\x03')});
    CHECK(key_reader{}.read("\t") == std::vector{other(special::tab)});
    CHECK(key_reader{}.read("\x1b[15~m") == std::vector{letter('m')});
    CHECK(key_reader{}.read("\x1b[<0;1;1Mj") == std::vector{letter('j')});
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

TEST_CASE("a sequence without an end is given up") {
    key_reader reader;
    CHECK(reader.read("\x1b[" + std::string(key_reader::sequence_bytes_max - 2, '0')).empty());
    CHECK(reader.read("0").empty());
    CHECK(reader.read("q") == std::vector{letter('q')});
}
