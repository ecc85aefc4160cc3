#include "support/allocations.hpp"

#include <string>
#include <vector>
#include "config/load.hpp"
#include "http/access_control.hpp"
#include "http/passwords.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::allocation_test {
namespace {

/// More than a string holds without memory of its own.
const std::string peer = "a peer of a name that takes memory";

TEST_CASE("a question that is taken without memory is still there afterwards") {
    password_queue queue;
    REQUIRE(queue.add(
        peer, {.of = {}, .user = "a", .hash = {}, .password = {}}, [](password_verdict) {},
        password_queue::clock::now()));
    const auto take_without_memory = [&] {
        failing_allocations = 1;
        return queue.take();
    };
    CHECK_THROWS_AS(take_without_memory(), std::bad_alloc);
    CHECK(failing_allocations == 0);
    CHECK(queue.take()->question.user == "a");
    CHECK_FALSE(queue.take());
}

TEST_CASE("who checks passwords goes on after there was no memory") {
    const char* const password_of_a =
        "basic_auth_users: {a: $2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW}\n";
    access_control access{load_web_config_text(password_of_a, "web.yml").value};
    const auto asked = access.decide({.path = "/stats", .authorization = "Basic YTp3cm9uZw=="});
    REQUIRE(asked.is == access_verdict::unchecked);
    std::vector<password_verdict> told;
    REQUIRE(access.queue.add("10.0.0.1", *asked.unchecked, [&](password_verdict made) {
        told.push_back(made);
        failing_allocations = 1;
    }));
    REQUIRE(access.queue.add(peer, *asked.unchecked, [&](password_verdict made) { told.push_back(made); }));
    while (access.check_next()) continue;
    CHECK(failing_allocations == 0);
    CHECK(told == std::vector(2, password_verdict::wrong));
}

}  // namespace
}  // namespace seriesgate::testing::allocation_test
