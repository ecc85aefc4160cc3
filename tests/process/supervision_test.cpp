#include "process/supervision.hpp"

#include "base/log.hpp"
#include "support/catch.hpp"
#include "support/service_manager.hpp"

namespace seriesgate::testing::supervision_test {
namespace {

TEST_CASE("the status says how full the hour is, what was refused, and whether the upstream answers") {
    limiter_figures figures;
    figures.hourly.series_max = 1000;
    figures.hourly.series_current = 900;
    figures.hourly.series_refused = 12;
    CHECK(status_in_words(figures, 1, 1, "") == "hour: 900 of 1,000 series, 12 refused; upstream up");
    CHECK(status_in_words(figures, 0, 1, "") == "hour: 900 of 1,000 series, 12 refused; upstream out");
    CHECK(status_in_words(figures, 2, 3, "") == "hour: 900 of 1,000 series, 12 refused; 2 of 3 upstreams up");
    CHECK(status_in_words(figures, 1, 1, "away") ==
          "hour: 900 of 1,000 series, 12 refused; upstream up; shared store away");
    figures.mode = limit_mode::observe;
    figures.hourly.series_max = 0;
    CHECK(status_in_words(figures, 0, 0, "") == "hour: 900 series, 12 would be refused; nothing is forwarded");
}

TEST_CASE("the time that is waited for a sign of life is a number, for the process it names or for any") {
    CHECK(watchdog_limit("30000000", "", "17") == 30s);
    CHECK(watchdog_limit("30000000", "17", "17") == 30s);
    CHECK_FALSE(watchdog_limit("30000000", "18", "17"));
    for (const char* text : {"", "0", "-5", "30s", "3e7", " 1", "99999999999999999999"})
        CHECK_FALSE(watchdog_limit(text, "", "17"));
}

TEST_CASE("there is a sign of life while no worker is late by half of that time") {
    const std::chrono::steady_clock::time_point now{100s};
    CHECK(is_alive(8s, now, now));
    CHECK(is_alive(8s, now - 4s, now));
    CHECK_FALSE(is_alive(8s, now - 4001ms, now));
    CHECK(is_alive(8s, std::chrono::steady_clock::time_point::max(), now));
}

TEST_CASE("a manager at a path or under an abstract name is told") {
    const service_manager listens{GENERATE(false, true)};
    notify_socket told{listens.address()};
    CHECK(told);
    told.send("READY=1");
    told.send("STATUS=hour: 3 series\nWATCHDOG=1");
    CHECK(listens.heard() == "READY=1");
    CHECK(listens.heard() == "STATUS=hour: 3 series\nWATCHDOG=1");
    CHECK(listens.heard() == "nothing");
}

TEST_CASE("without a manager nobody is told") {
    notify_socket told{""};
    CHECK_FALSE(told);
    told.send("READY=1");
}

TEST_CASE("what is no path of a unix socket is no manager") {
    log::set_up(log::format::logfmt, log::level::error);
    CHECK_FALSE(notify_socket{"vsock:2:1234"});
    CHECK_FALSE(notify_socket{"relative"});
    CHECK_FALSE(notify_socket{"/" + std::string(200, 'x')});
}

TEST_CASE("a manager that has gone is told in vain") {
    std::string address;
    {
        const service_manager listens{false};
        address = listens.address();
    }
    notify_socket told{address};
    told.send("READY=1");
    told.send("READY=1");
    CHECK(told);
}

}  // namespace
}  // namespace seriesgate::testing::supervision_test
