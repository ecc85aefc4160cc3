#include "top/run.hpp"

#include "support/catch.hpp"

using namespace seriesgate::top;

TEST_CASE("every line is put in its place, and the rest of it wiped") {
    frame shown;
    shown.lines.emplace_back("a");
    shown.lines.push_back(line{}.add("b", tone::bad).add("c"));
    shown.lines.emplace_back("");
    CHECK(painted(shown, true) == "\x1b[1;1H\x1b[Ka\x1b[2;1H\x1b[K\x1b[1;31mb\x1b[0mc\x1b[3;1H\x1b[K");
}

TEST_CASE("without colours what matters is bold") {
    frame shown;
    for (const tone each : {tone::plain, tone::faint, tone::good}) shown.lines.emplace_back("a", each);
    CHECK(painted(shown, false) == "\x1b[1;1H\x1b[Ka\x1b[2;1H\x1b[Ka\x1b[3;1H\x1b[Ka");
    shown.lines.clear();
    for (const tone each : {tone::strong, tone::warning, tone::bad}) shown.lines.emplace_back("a", each);
    CHECK(painted(shown, false) ==
          "\x1b[1;1H\x1b[K\x1b[1ma\x1b[0m\x1b[2;1H\x1b[K\x1b[1ma\x1b[0m\x1b[3;1H\x1b[K\x1b[1ma\x1b[0m");
}
