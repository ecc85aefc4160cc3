#include "http/passwords.hpp"

#include <new>

#include "support/catch.hpp"

namespace seriesgate::testing::passwords_test {
namespace {

constexpr password_queue::clock::time_point start{1h};

password_question question(unsigned char number) {
    password_question made;
    made.of[0] = number;
    made.user = std::to_string(number);
    return made;
}

/// Who is served, in turn.
std::string served(password_queue& queue, std::size_t count) {
    std::string users;
    for (std::size_t i = 0; i < count; ++i) users += queue.take()->question.user + " ";
    return users;
}

/// How many questions wait; then none does.
std::size_t taken(password_queue& queue) {
    std::size_t count = 0;
    while (queue.take()) ++count;
    return count;
}

/// Each of as many peers as there is room for asks as often as it may. @return how many
std::size_t fill(password_queue& queue, const std::function<void(password_verdict)>& told = {}) {
    constexpr std::size_t peers = password_queue::orders_max / password_queue::orders_per_peer_max;
    for (std::size_t peer = 0; peer < peers; ++peer)
        for (unsigned char i = 0; i < password_queue::orders_per_peer_max; ++i)
            REQUIRE(queue.add("10.0.0." + std::to_string(peer), question(i), told, start));
    return peers;
}

digest number(std::size_t value) {
    digest made{};
    for (std::size_t i = 0; i < 8; ++i) made[i] = static_cast<unsigned char>(value >> 8 * i);
    return made;
}

TEST_CASE("peers take turns, whoever asked for more") {
    password_queue queue;
    for (unsigned char i = 10; i < 16; ++i) REQUIRE(queue.add("10.0.0.1", question(i), {}, start));
    REQUIRE(queue.add("10.0.0.2", question(20), {}, start));
    REQUIRE(queue.add("10.0.0.3", question(30), {}, start));
    REQUIRE(queue.add("10.0.0.3", question(31), {}, start));
    CHECK(served(queue, 9) == "10 20 30 11 31 12 13 14 15 ");
    CHECK_FALSE(queue.take());
}

TEST_CASE("a peer has its share") {
    password_queue queue;
    for (unsigned char i = 0; i < password_queue::orders_per_peer_max; ++i)
        REQUIRE(queue.add("10.0.0.1", question(i), {}, start));
    CHECK_FALSE(queue.add("10.0.0.1", question(99), {}, start));
    CHECK(queue.add("10.0.0.2", question(99), {}, start));
}

TEST_CASE("who has most makes room for who has less, and all together never have more") {
    password_queue queue;
    const std::size_t peers = fill(queue);
    CHECK_FALSE(queue.add("10.0.0.1", question(99), {}, start));
    CHECK(queue.add("10.9.0.1", question(99), {}, start));
    std::string users;
    for (std::size_t i = 0; i <= peers; ++i) users += queue.take()->question.user + " ";
    CHECK(users.ends_with(" 99 "));
    CHECK(taken(queue) == password_queue::orders_max - peers - 1);
}

TEST_CASE("who makes room is told at once") {
    password_queue queue;
    std::vector<password_verdict> told;
    fill(queue, [&](password_verdict made) { told.push_back(made); });
    REQUIRE(queue.add("another", question(1), {}, start));
    CHECK(told == std::vector{password_verdict::unchecked});
}

TEST_CASE("a listener for whom there is no memory keeps nobody else from the answer") {
    int told = 0;
    const password_queue::order order{
        .question = question(1),
        .asking = {[](password_verdict) { throw std::bad_alloc{}; }, [&](password_verdict) { ++told; }},
        .since = start};
    order.give(password_verdict::right);
    CHECK(told == 1);
}

TEST_CASE("where nobody has more than another there is no room") {
    password_queue queue;
    for (std::size_t peer = 0; peer < password_queue::orders_max; ++peer)
        REQUIRE(queue.add(std::to_string(peer), question(1), {}, start));
    CHECK_FALSE(queue.add("another", question(1), {}, start));
    CHECK(taken(queue) == password_queue::orders_max);
}

TEST_CASE("who asks for what is asked for already shares the answer") {
    password_queue queue;
    std::vector<password_verdict> told;
    const auto add = [&] {
        return queue.add(
            "10.0.0.1", question(7), [&](password_verdict made) { told.push_back(made); }, start);
    };
    for (std::size_t i = 0; i < password_queue::asking_max; ++i) REQUIRE(add());
    CHECK_FALSE(add());
    const auto order = queue.take();
    CHECK_FALSE(queue.take());
    order->give(password_verdict::right);
    CHECK(told == std::vector(password_queue::asking_max, password_verdict::right));
    CHECK(order->since == start);
}

TEST_CASE("each question that is taken in is notified of, and an empty queue has none") {
    password_queue queue;
    std::size_t notified = 0;
    queue.when_added([&] { ++notified; });
    CHECK_FALSE(queue.take());
    REQUIRE(queue.add("10.0.0.1", question(1), {}, start));
    CHECK(notified == 1);
    CHECK(queue.take());
    CHECK_FALSE(queue.take());
}

TEST_CASE("what was wrong is remembered for a while") {
    bad_passwords bad;
    bad.insert(number(1), start);
    bad.insert(number(2), start + 30s);
    CHECK(bad.contains(number(1), start + 60s - 1ns));
    CHECK_FALSE(bad.contains(number(3), start));
    CHECK_FALSE(bad.contains(number(1), start + 60s));
    CHECK(bad.contains(number(2), start + 60s));
    CHECK_FALSE(bad.contains(number(2), start + 90s));
}

TEST_CASE("who comes again with the same wrong password makes it last no longer") {
    bad_passwords bad;
    bad.insert(number(1), start);
    bad.insert(number(1), start + 59s);
    CHECK_FALSE(bad.contains(number(1), start + 60s));
}

TEST_CASE("of too many wrong passwords the oldest are forgotten") {
    bad_passwords bad;
    for (std::size_t i = 0; i < 3 * bad_passwords::kept_max; ++i) bad.insert(number(i), start);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 3 * bad_passwords::kept_max; ++i) kept += bad.contains(number(i), start) ? 1 : 0;
    CHECK(kept == bad_passwords::kept_max);
    CHECK_FALSE(bad.contains(number(2 * bad_passwords::kept_max - 1), start));
    CHECK(bad.contains(number(2 * bad_passwords::kept_max), start));
}

}  // namespace
}  // namespace seriesgate::testing::passwords_test
