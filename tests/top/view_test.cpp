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
