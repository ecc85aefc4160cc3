#include "http/access_control.hpp"

#include "base/clock.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace access_control_test {
namespace {

constexpr std::string_view right = "Basic YWxpY2U6c2VjcmV0";       // alice:secret
constexpr std::string_view wrong = "Basic YWxpY2U6eA==";           // alice:x
constexpr std::string_view nobody = "Basic bm9ib2R5OnNlY3JldA==";  // nobody:secret

web_config with_alice() {
    web_config made;
    made.basic_auth_users["alice"] = std::string{"$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"};
    return made;
}

access_question from(std::string_view authorization) {
    return {.path = "/", .authorization = authorization};
}

struct scene {
    access_control access{with_alice()};

    /// What is found out about a password that has not been seen.
    bool check(std::string_view authorization) {
        auto decided = access.decide(from(authorization));
        REQUIRE(decided.is == access_verdict::unchecked);
        std::optional<password_verdict> verdict;
        REQUIRE(access.ask("10.0.0.1", *decided.unchecked, [&](password_verdict made) { verdict = made; }));
        REQUIRE(access.check_next());
        CHECK_FALSE(access.check_next());
        return verdict == password_verdict::right;
    }
};

}  // namespace

TEST_CASE("a right password is checked once") {
    scene at;
    CHECK(at.check(right));
    CHECK(at.access.decide(from(right)).is == access_verdict::granted);
    CHECK(at.access.decide(from(right), access_control::clock::now() + 24h).is == access_verdict::granted);
}

TEST_CASE("a wrong password is wrong for a while") {
    scene at;
    CHECK_FALSE(at.check(wrong));
    CHECK(at.access.decide(from(wrong)).is == access_verdict::unauthenticated);
    CHECK(at.access.decide(from(wrong), access_control::clock::now() + 61s).is == access_verdict::unchecked);
}

TEST_CASE("nobody's password is never right") {
    scene at;
    CHECK_FALSE(at.check(nobody));
    CHECK(at.access.decide(from(nobody)).is == access_verdict::unauthenticated);
}

TEST_CASE("wrong passwords push no right one out") {
    scene at;
    CHECK(at.check(right));
    auto decided = at.access.decide(from(wrong));
    for (std::size_t i = 0; i < password_queue::orders_max; ++i) {
        password_question asked = *decided.unchecked;
        asked.of = {static_cast<unsigned char>(i)};
        (void)at.access.ask("10.0.0.9", asked, [](password_verdict) {});
    }
    CHECK(at.access.decide(from(right)).is == access_verdict::granted);
}

TEST_CASE("a wrong password is followed by a rest of three times what its check took") {
    scene at;
    const auto decided = at.access.decide(from(wrong));
    for (unsigned i = 0; i < 20; ++i) {
        password_question asked = *decided.unchecked;
        asked.of = {static_cast<unsigned char>(i), 1};
        REQUIRE(at.access.ask("10.0.0.1", asked, [](password_verdict) {}));
        const auto before = thread_cpu_clock::now();
        const auto rest = at.access.check_next();
        REQUIRE(rest);
        CHECK(*rest >= std::min<access_control::clock::duration>(2 * (thread_cpu_clock::now() - before),
                                                                 access_control::rest_max));
    }
    CHECK(at.check(right));
}

TEST_CASE("a password that has waited too long is told to be unchecked") {
    scene at;
    const auto decided = at.access.decide(from(wrong));
    std::optional<password_verdict> verdict;
    const auto long_ago = access_control::clock::now() - access_control::wait_max - 1s;
    REQUIRE(at.access.ask(
        "10.0.0.1", *decided.unchecked, [&](password_verdict made) { verdict = made; }, long_ago));
    REQUIRE(at.access.check_next());
    CHECK(verdict == password_verdict::unchecked);
}

TEST_CASE("who may ask changes while the gate runs") {
    scene at;
    CHECK(at.access.asks());
    CHECK(at.check(right));
    web_config next = with_alice();
    next.admin_users = user_names{};
    at.access.take_over(next);
    CHECK(at.access.decide(from(right)).is == access_verdict::forbidden);
    at.access.take_over({});
    CHECK_FALSE(at.access.asks());
    CHECK(at.access.decide(from(wrong)).is == access_verdict::granted);
}

TEST_CASE("nothing is asked for by an empty web configuration") {
    access_control none{{}};
    CHECK_FALSE(none.asks());
    web_config headers;
    headers.answer_headers.emplace_back("X-Frame-Options", "deny");
    CHECK(access_control{headers}.asks());
}

}  // namespace access_control_test
