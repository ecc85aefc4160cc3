#include "process/reload.hpp"

#include <stdexcept>

#include "limit/offering.hpp"
#include "net/event_loop.hpp"
#include "support/allocations.hpp"
#include "support/captured_log.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::reload_test {
namespace {

config some_config() {
    config made;
    made.rules.global = {.hourly = 3, .daily = 9};
    return made;
}

/// A limiter with its configuration, and a reader that reads what the test says.
struct scene {
    config running = some_config();
    offering gate{running.rules, at(10)};
    reload_metrics metrics;
    std::function<load_outcome()> read_again;
    config_page page;
    access_control access{running.web};
    web_access web{running.web_config_file, running.web, access, metrics.web_successful};
    reloader reload{running, [this] { return read_again(); }, gate.limiter, web, metrics, page};

    reload_outcome read(load_outcome outcome) {
        read_again = [outcome] { return outcome; };
        return reload.reload();
    }
    [[nodiscard]] std::uint64_t hourly_max() const { return gate.hourly().series_max; }
};

load_outcome wrong(std::vector<config_error> errors) {
    load_outcome made;
    made.value.rules.global.hourly = 1;  // not to be used
    made.errors = std::move(errors);
    return made;
}

TEST_CASE("the start counts as the first configuration that was taken over") {
    const scene at;
    CHECK(at.metrics.successful.value() == 1);
    CHECK(at.metrics.success_seconds.value() > 1'700'000'000);
    CHECK(at.metrics.reads.value() == 0);
}

TEST_CASE("new limits are taken over") {
    scene at;
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.rules.global.hourly = 7;
    const reload_outcome outcome = at.read(wanted);
    CHECK(outcome.ok);
    CHECK(outcome.text == "configuration reloaded\nmaxHourlySeries 3 -> 7");
    CHECK(at.hourly_max() == 7);
    CHECK(at.metrics.reads.value() == 1);
    CHECK(at.metrics.successful.value() == 1);
}

TEST_CASE("a bad file changes nothing, and every mistake is told in a line of its own") {
    scene at;
    const reload_outcome outcome = at.read(wrong({{.where = "gate.yaml:3", .key = "listen", .message = "no port"},
                                                  {.where = "gate.yaml:5", .key = "mode", .message = "unknown key"}}));
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.text == "gate.yaml:3: listen: no port\ngate.yaml:5: mode: unknown key");
    CHECK(at.hourly_max() == 3);
    CHECK(at.metrics.reads.value() == 1);
    CHECK(at.metrics.successful.value() == 0);
}

TEST_CASE("what is allowed and surely not meant is taken over, and told") {
    scene at;
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.rules.global.daily = 2;
    wanted.warnings.push_back({.where = "gate.yaml:1",
                               .key = "maxDailySeries",
                               .message = "is below maxHourlySeries",
                               .is = severity::warning});
    const reload_outcome outcome = at.read(wanted);
    CHECK(outcome.ok);
    CHECK(outcome.text ==
          "configuration reloaded\nmaxDailySeries 9 -> 2\n"
          "gate.yaml:1: warning: maxDailySeries: is below maxHourlySeries");
}

TEST_CASE("the next good file mends what a bad one has left") {
    scene at;
    CHECK_FALSE(at.read(wrong({{.where = {}, .key = "mode", .message = "unknown key"}})).ok);
    CHECK(at.read({.value = at.running, .errors = {}}).ok);
    CHECK(at.metrics.successful.value() == 1);
    CHECK(at.metrics.reads.value() == 2);
}

TEST_CASE("what only a start reads is named, and the limits are taken over all the same") {
    scene at;
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.rules.global.hourly = 8;
    wanted.value.reject_status = 429;
    const reload_outcome outcome = at.read(wanted);
    CHECK(outcome.ok);
    CHECK(outcome.text ==
          "configuration reloaded\nmaxHourlySeries 3 -> 8\na restart is needed for: rejectStatus 400 -> 429");
    CHECK(at.hourly_max() == 8);
    wanted.value.ignore_labels = {"replica"};
    CHECK(at.read(wanted).text ==
          "configuration reloaded: nothing has changed\na restart is needed for: ignoreLabels\n"
          "a restart is needed for: rejectStatus 400 -> 429");
}

TEST_CASE("limits on a label that is ignored until a restart are not taken over") {
    scene at;
    at.running.ignore_labels = {"replica", "zone"};
    reloader reload{at.running, [&at] { return at.read_again(); }, at.gate.limiter, at.web, at.metrics, at.page};
    const std::string page = **at.page.lock();
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.ignore_labels = {};
    wanted.value.rules.global.hourly = 7;
    wanted.value.rules.limits.resize(2);
    wanted.value.rules.limits[1].match = *parse_selector("{job=\"a\",replica=\"b\"}");
    wanted.value.rules.limits[1].each = {"job", "zone"};
    wanted.value.rules.exempt = {*parse_selector("up"), *parse_selector("{zone!=\"\"}")};
    at.read_again = [&wanted] { return wanted; };
    const reload_outcome outcome = reload.reload();
    CHECK_FALSE(outcome.ok);
    const std::string why =
        " is one of ignoreLabels, which do not tell series apart; a restart is needed for ignoreLabels first";
    CHECK(outcome.text ==
          "limits[1].match: 'replica'" + why + "\nlimits[1].each[1]: 'zone'" + why + "\nexempt[1]: 'zone'" + why);
    CHECK(at.hourly_max() == 3);
    CHECK(**at.page.lock() == page);
    CHECK(at.metrics.successful.value() == 0);

    wanted.value.rules.limits.clear();
    wanted.value.rules.exempt.clear();
    CHECK(reload.reload().ok);
    CHECK(at.hourly_max() == 7);
}

TEST_CASE("the page shows what is in force: new limits, and else what was started with") {
    scene at;
    const auto shows = [&at](std::string_view line) { return (*at.page.lock())->find(line) != std::string::npos; };
    CHECK((*at.page.lock())->starts_with("# The configuration in force"));
    CHECK(shows("\nmaxHourlySeries: 3\n"));
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.rules.global.hourly = 8;
    wanted.value.log.level = log::level::warn;
    wanted.value.reject_status = 429;
    CHECK(at.read(wanted).ok);
    CHECK(shows("\nmaxHourlySeries: 8\n"));
    CHECK(shows("\n  level: warn\n"));
    CHECK(shows("\nrejectStatus: 400\n"));
    CHECK(shows("\n# A restart is needed for: rejectStatus 400 -> 429\n"));
    const page_text before = *at.page.lock();
    CHECK_FALSE(at.read(wrong({{.where = {}, .key = "mode", .message = "unknown key"}})).ok);
    CHECK(*at.page.lock() == before);
    CHECK(at.read({.value = at.running, .errors = {}}).text ==
          "configuration reloaded\nmaxHourlySeries 8 -> 3\nlog.level warn -> info");
    CHECK_FALSE(shows("restart"));
}

TEST_CASE("a map of very many changes is one key in the answer") {
    scene at;
    load_outcome wanted{.value = at.running, .errors = {}};
    for (int i = 0; i < 1003; ++i) wanted.value.rules.tenants.overrides[std::to_string(i)] = {};
    CHECK(at.read(wanted).text == "configuration reloaded\ntenants.overrides");
    CHECK(at.read(wanted).text == "configuration reloaded: nothing has changed");
}

TEST_CASE("a reader that throws is a mistake like others, and not the end") {
    scene at;
    at.read_again = []() -> load_outcome { throw std::runtime_error("out of something"); };
    const reload_outcome outcome = at.reload.reload();
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.text == "out of something");
    CHECK(at.metrics.successful.value() == 0);
    CHECK(at.read({.value = at.running, .errors = {}}).ok);
}

TEST_CASE("a reload that runs out of memory takes over all or nothing, and says which") {
    const captured_log unread;  // a line for each failure
    const auto reloaded = [](scene& at) {
        load_outcome wanted{.value = at.running, .errors = {}};
        wanted.value.rules.global.hourly = 7;
        wanted.value.web.admin_users = user_names{};
        return at.read(std::move(wanted));
    };
    scene whole;
    const std::uint64_t all = allocations_of([&] { REQUIRE(reloaded(whole).ok); }).count;
    constexpr std::uint64_t last_ones = 100;  // before them there is only text
    REQUIRE(all > last_ones);
    int failures = 0;
    bool has_failed = true;
    for (std::uint64_t after = all - last_ones; has_failed; ++after) {
        scene at;
        reload_outcome outcome;
        has_failed = fails_once(after, [&] { outcome = reloaded(at); });
        CAPTURE(after);
        CHECK(at.hourly_max() == (outcome.ok ? 7 : 3));
        CHECK(at.access.asks() == outcome.ok);
        failures += outcome.ok ? 0 : 1;
    }
    CHECK(failures > 10);
}

TEST_CASE("what is asked for at the desk before it is read is read once") {
    scene at;
    at.read_again = [&at] { return load_outcome{.value = at.running, .errors = {}}; };
    reload_queue desk;
    desk.ask({});
    desk.ask({});  // joins the first
    net::io_context io{1};
    spawn(io.get_executor(), at.reload.run(desk), "reloading failed");
    io.poll();
    CHECK(at.metrics.reads.value() == 1);
}

TEST_CASE("limits of active series that the set in force cannot count are not taken over") {
    scene at;
    load_outcome wanted{.value = at.running, .errors = {}};
    wanted.value.series_set = set_kind::exact;
    wanted.value.rules.global = {.hourly = 7, .active = 20};
    const reload_outcome outcome = at.read(wanted);
    CHECK_FALSE(outcome.ok);
    CHECK(outcome.text ==
          "maxActiveSeries: needs seriesSet: exact, without shared; a restart is needed for these first");
    wanted.value.rules.global.active = 0;
    wanted.value.rules.limits.push_back({.name = "a", .overrides = {{{{"b", "c"}}, {.active = 20}}}});
    CHECK(at.read(wanted).text.starts_with("limits[0].overrides[0].maxActiveSeries: needs seriesSet: exact"));
    CHECK(at.hourly_max() == 3);
}

}  // namespace
}  // namespace seriesgate::testing::reload_test
