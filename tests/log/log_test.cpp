#include "log/log.hpp"

#include <string>

#include "support/captured_log.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using seriesgate::testing::captured_log;

TEST_CASE("an event is written as one line, from the level upwards that is set") {
    const captured_log said;
    log::debug("not said");
    log::info("said", {{"n", 1}});
    log::set_up(log::format::logfmt, log::level::error);
    log::warn("not said");
    log::error("said", {{"n", 2}});
    log::set_up(log::format::logfmt, log::level::debug);
    log::debug("said", {{"n", 3}});
    log::set_up(log::format::logfmt, log::level::info);
    CHECK(said.text() == "level=info msg=said n=1\nlevel=error msg=said n=2\nlevel=debug msg=said n=3\n");
}

TEST_CASE("the form changes from one line to the next") {
    const captured_log said;
    log::set_up(log::format::json, log::level::info);
    log::info("level=one");
    log::set_up(log::format::logfmt, log::level::info);
    log::info("two");
    CHECK(said.text() == "level=one\"}\nlevel=info msg=two\n");
}

TEST_CASE("a placeholder of the library's in a value is no more than its characters") {
    const captured_log said;
    log::info("x", {{"v", "{} {0} %v"}});
    CHECK(said.text() == "level=info msg=x v=\"{} {0} %v\"\n");
}
