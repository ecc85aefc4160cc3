#include "ingest/requests.hpp"
#include "simulation/simulation.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

namespace {

constexpr auto before_one = virtual_time::noon + 59min + 50s;

/// up{job="N"} for each number.
std::string jobs(int first, int count) {
    std::string body;
    for (int i = first; i < first + count; ++i)
        body += series({label("__name__", "up"), label("job", std::to_string(i)), sample(1)});
    return body;
}

int refused(const http_answer& of) {
    const std::string_view said = of.header("X-Seriesgate-Refused-Series");
    return said.empty() ? 0 : std::stoi(std::string{said});
}

}  // namespace

TEST_CASE("after the full hour those of the hour before keep their room, and newcomers get what is left") {
    simulation world{1, before_one};
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100\n");
    CHECK(refused(world.post(write_request(jobs(0, 80)))) == 0);
    world.time.run_for(20s);
    CHECK(refused(world.post(write_request(jobs(1000, 100)))) == 80);
    CHECK(refused(world.post(write_request(jobs(0, 80)))) == 0);
    CHECK(refused(world.post(write_request(jobs(2000, 1)))) == 1);
}

TEST_CASE("the room that was kept is free when the grace is over") {
    simulation world{1, before_one};
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100\nincumbentGrace: 2m\n");
    CHECK(refused(world.post(write_request(jobs(0, 80)))) == 0);
    world.time.run_for(15s);
    CHECK(refused(world.post(write_request(jobs(1000, 100)))) == 80);
    world.time.run_for(2min);
    CHECK(refused(world.post(write_request(jobs(1020, 100)))) == 20);
}

TEST_CASE("a known series is never refused, within the hour") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 10\n");
    CHECK(refused(world.post(write_request(jobs(0, 10)))) == 0);
    for (int i = 0; i < 5; ++i) {
        CHECK(refused(world.post(write_request(jobs(100 * i + 100, 10)))) == 10);
        CHECK(refused(world.post(write_request(jobs(0, 10)))) == 0);
    }
}

TEST_CASE("the day's maximum holds over hours") {
    simulation world{1, before_one};
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 100\nmaxDailySeries: 120\nincumbentGrace: 1s\n");
    CHECK(refused(world.post(write_request(jobs(0, 100)))) == 0);
    world.time.run_for(20s);
    CHECK(refused(world.post(write_request(jobs(1000, 100)))) == 80);
}

TEST_CASE("a reload changes what is admitted, and a bad one changes nothing") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 10\n");
    CHECK(refused(world.post(write_request(jobs(0, 15)))) == 5);
    CHECK(world.reload("maxHourlySeries: -1\n").status == 400);
    world.time.run_for(2s);
    CHECK(refused(world.post(write_request(jobs(100, 1)))) == 1);
    const http_answer taken = world.reload("maxHourlySeries: 20\n");
    CHECK(taken.status == 200);
    CHECK(taken.body.find("maxHourlySeries") != std::string::npos);
    CHECK(refused(world.post(write_request(jobs(200, 15)))) == 5);
}

TEST_CASE("each tenant has a budget of its own") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("tenants: {default: {maxHourlySeries: 5}, overrides: {big: {maxHourlySeries: 50}}}\n");
    for (const auto* tenant : {"a", "b"})
        CHECK(refused(world.post(write_request(jobs(0, 8), {{"X-Scope-OrgID", tenant}}))) == 3);
    CHECK(refused(world.post(write_request(jobs(0, 60), {{"X-Scope-OrgID", "big"}}))) == 10);
}

TEST_CASE("a clock that leaps by a day is doubted, and known series flow meanwhile") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 10\n");
    CHECK(refused(world.post(write_request(jobs(0, 10)))) == 0);
    world.time.set_time_of_day(virtual_time::noon + 24h);
    world.time.run_for(1s);
    CHECK(refused(world.post(write_request(jobs(0, 10)))) == 0);
    CHECK(world.logged("the clock has leapt by over an hour") == 1);
}

TEST_CASE("a restart without state counts from nothing, and one with a shared secret knows its series again") {
    simulation world;
    scripted_store store{world.peers};
    world.start_gate("maxHourlySeries: 10\n");
    CHECK(refused(world.post(write_request(jobs(0, 10)))) == 0);
    CHECK(world.stop_gate());
    world.start_gate("maxHourlySeries: 10\n");
    CHECK(refused(world.post(write_request(jobs(100, 10)))) == 0);
}
