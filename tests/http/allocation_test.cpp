#include "support/allocations.hpp"

#include <string>
#include <vector>
#include "config/load.hpp"
#include "http/access_control.hpp"
#include "http/passwords.hpp"
#include "http/request_reading.hpp"
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

TEST_CASE("an announced body takes no memory before it comes") {
    constexpr std::size_t announced = 32u << 20;
    request_parser parser;
    parser.body_limit(boost::none);
    parser.eager(true);
    const auto put = [&](const std::string& bytes) {
        error_code error;
        const std::size_t taken = parser.put(net::buffer(bytes), error);
        CHECK((!error || error == http::error::need_more));
        CHECK(taken == bytes.size());
    };
    put("POST /write HTTP/1.1\r\nHost: gate\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n");
    const std::string& body = parser.get().body();
    put("x");
    CHECK(body.capacity() == request_body::reserved_bytes_first);
    put(std::string(request_body::reserved_bytes_first - 1, 'y'));
    CHECK(body.capacity() == request_body::reserved_bytes_first);
    put("z");
    CHECK(body.capacity() == announced);  // nothing is copied again
    CHECK(body.front() == 'x');
    CHECK(body.back() == 'z');
    put(std::string(announced - body.size(), 'y'));
    CHECK(parser.is_done());
    CHECK(body.size() == announced);
}

}  // namespace
}  // namespace seriesgate::testing::allocation_test
