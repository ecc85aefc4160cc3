#include "top/view.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;

namespace {

key key_of(char letter) {
    return {.letter = letter, .other = special::none};
}

key key_of(special other) {
    return {.letter = 0, .other = other};
}

wish press(view& seen, auto pressed) {
    return press(seen, key_of(pressed), 5);
}

std::vector<key> keys_of(auto... pressed) {
    return {key_of(pressed)...};
}

/// What comes of the bytes, which come in pieces.
std::vector<key> keys_in(const std::vector<std::string>& pieces) {
    key_reader reader;
    std::vector<key> all;
    for (const std::string& piece : pieces) {
        const auto some = reader.read(piece);
        if (&piece != &pieces.back()) CHECK(some.empty());
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace

TEST_CASE("letters choose what is asked") {
    view seen;
    for (const auto& [pressed, by] :
         {std::pair{'l', "label"}, {'j', "job"}, {'s', "sender"}, {'t', "tenant"}, {'m', "metric"}}) {
        CHECK(press(seen, pressed) == wish::ask);
        CHECK(seen.asked.by == by);
    }
    CHECK(press(seen, 'r') == wish::ask);
    CHECK(press(seen, 'd') == wish::ask);
    CHECK(seen.asked == question{.by = "metric", .refused = true, .daily = true});
    CHECK(press(seen, 'n') == wish::ask);
    CHECK(press(seen, 'h') == wish::ask);
    CHECK(seen.asked == question{});
}

TEST_CASE("the part that is looked at scrolls, and another one begins at its top") {
    view seen;
    CHECK(press(seen, special::up) == wish::draw);
    CHECK(seen.scroll == 0);
    press(seen, special::down);
    press(seen, special::page_down);
    CHECK(seen.scroll == 6);
    press(seen, special::page_up);
    CHECK(seen.scroll == 1);
    CHECK(press(seen, special::tab) == wish::draw);
    CHECK(seen.focus == part::budgets);
    CHECK(seen.scroll == 0);
    press(seen, special::end);
    CHECK(seen.scroll > 1000);
    press(seen, special::home);
    CHECK(seen.scroll == 0);
}

TEST_CASE("all parts are come to, in either direction") {
    view seen;
    for (const part each : {part::budgets, part::refused, part::stores, part::findings, part::top}) {
        press(seen, special::tab);
        CHECK(seen.focus == each);
    }
    press(seen, special::back_tab);
    CHECK(seen.focus == part::findings);
    press(seen, special::back_tab);
    CHECK(seen.focus == part::stores);
}

TEST_CASE("remedies are shown where the findings are") {
    view seen;
    CHECK(press(seen, 'x') == wish::draw);
    CHECK(seen.shows_remedies);
    CHECK(seen.focus == part::findings);
    press(seen, 'x');
    CHECK_FALSE(seen.shows_remedies);
}

TEST_CASE("keys end it, and help comes and goes") {
    view seen;
    CHECK(press(seen, 'q') == wish::quit);
    CHECK(press(seen, '\x03') == wish::quit);
    CHECK(press(seen, '\x1a') == wish::suspend);
    CHECK(press(seen, ' ') == wish::ask);
    CHECK(press(seen, '?') == wish::draw);
    CHECK(seen.shows_help);
    CHECK(press(seen, special::escape) == wish::draw);
    CHECK_FALSE(seen.shows_help);
    CHECK(press(seen, 'z') == wish::nothing);
}

TEST_CASE("keys are read in the forms that terminals send, in whatever pieces they come") {
    CHECK(keys_in({"mq\x03"}) == keys_of('m', 'q', '\x03'));
    CHECK(keys_in({"\t"}) == keys_of(special::tab));
    CHECK(keys_in({"\x1b[A\x1bOB\x1b[5~\x1b[6~"}) ==
          keys_of(special::up, special::down, special::page_up, special::page_down));
    CHECK(keys_in({"\x1b[H\x1b[4~\x1b[Z"}) == keys_of(special::home, special::end, special::back_tab));
    CHECK(keys_in({"\x1b", "[", "5", "~n"}) == keys_of(special::page_up, 'n'));
    // An escape character is a key when something else follows.
    CHECK(keys_in({"\x1b", "q"}) == keys_of(special::escape, 'q'));
    // Keys that are not known are passed over whole, and a sequence without an end is given up.
    CHECK(keys_in({"\x1b[15~m"}) == keys_of('m'));
    CHECK(keys_in({"\x1b[<0;1;1Mj"}) == keys_of('j'));
    CHECK(keys_in({"\x1b[" + std::string(key_reader::sequence_bytes_max - 2, '0'), "0", "q"}) == keys_of('q'));
}
