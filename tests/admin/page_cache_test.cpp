#include "admin/pages.hpp"

#include <boost/asio/co_spawn.hpp>
#include <exception>

#include "support/catch.hpp"
#include "support/running_loop.hpp"

namespace seriesgate::testing::page_cache_test {
namespace {

const api_question whole{.path = api_path::stats};
const api_question cut{.path = api_path::stats, .shown_max = 5};
const auto start = std::chrono::steady_clock::time_point{} + 1h;

page_text text_of(std::size_t bytes) {
    return std::make_shared<const std::string>(bytes, 'x');
}

using numbers = single_flight_queue<int, int>;

void ask(numbers& asked, int key, net::io_context& io, std::chrono::milliseconds limit, std::size_t ahead_max,
         std::vector<std::optional<int>>& got) {
    net::co_spawn(io, asked.ask(key, io, limit, ahead_max),
                  [&got](const std::exception_ptr& failure, std::optional<int> outcome) {
                      if (failure) std::rethrow_exception(failure);
                      got.push_back(outcome);
                  });
}

/// @return nothing if nothing is asked for.
std::optional<numbers::job> take(numbers& asked) {
    std::optional<numbers::job> taken;
    net::io_context io{1};
    net::co_spawn(io, asked.take(), [&taken](const std::exception_ptr& failure, numbers::job job) {
        if (failure) std::rethrow_exception(failure);
        taken = std::move(job);
    });
    io.poll();
    return taken;
}

TEST_CASE("a shelf has room until those who read hold too much, and again when they let go") {
    page_cache limit_budgets;
    std::vector<page_text> held;
    while (limit_budgets.has_room()) {
        REQUIRE(held.size() < 40);
        held.push_back(text_of(1 << 20));
        limit_budgets.put(whole, held.back(), start);
    }
    CHECK(held.size() == 32);
    held.pop_back();
    CHECK(limit_budgets.has_room());
    held.clear();
    limit_budgets.put(whole, text_of(100 << 20), start);  // held by nobody
    CHECK(limit_budgets.has_room());
}

TEST_CASE("one text larger than all that may be held is made, but not a second") {
    page_cache limit_budgets;
    CHECK(limit_budgets.has_room());
    const page_text large = text_of(40 << 20);
    limit_budgets.put(whole, large, start);
    CHECK_FALSE(limit_budgets.has_room());
    CHECK(limit_budgets.newest(whole, start + 1s) == large);
}

TEST_CASE("the newest text with the same key is shared, if it is young enough and still held") {
    page_cache limit_budgets;
    const page_text first = text_of(1);
    page_text second = text_of(1);
    const page_text other = text_of(1);
    limit_budgets.put(whole, first, start);
    limit_budgets.put(whole, second, start + 10s);
    limit_budgets.put(cut, other, start + 11s);
    CHECK(limit_budgets.newest(whole, start + 12s) == second);
    CHECK(limit_budgets.newest(cut, start + 12s) == other);
    CHECK(limit_budgets.newest({.path = api_path::stats, .shown_max = 6}, start + 12s) == nullptr);
    CHECK(limit_budgets.newest({.path = api_path::metrics}, start + 12s) == nullptr);
    second = nullptr;
    CHECK(limit_budgets.newest(whole, start + 12s) == first);
    CHECK(limit_budgets.newest(whole, start + page_cache::age_max) == first);
    CHECK(limit_budgets.newest(whole, start + page_cache::age_max + 1ns) == nullptr);
    CHECK(limit_budgets.newest(cut, start + page_cache::age_max + 1s) == other);
}

TEST_CASE("a part is another page than the whole, and than other parts") {
    CHECK(cut.is_part());
    const api_question of_tenant{.path = api_path::stats, .tenant = "5"};
    const api_question of_limit{.path = api_path::stats, .name = "5"};
    CHECK((of_tenant.is_part() && of_limit.is_part()));
    CHECK((of_tenant != of_limit && of_tenant != cut && of_limit != cut));
    CHECK(api_question{.path = api_path::stats, .tenant = ""}.is_part());
    CHECK_FALSE(whole.is_part());
    CHECK_FALSE(api_question{.path = api_path::metrics}.is_part());
}

TEST_CASE("a name that is asked for takes its share of what may be held") {
    page_cache limit_budgets;
    std::vector<page_text> held;
    const api_question long_name{.path = api_path::stats, .tenant = std::string(4096, 'x')};
    while (limit_budgets.has_room()) {
        REQUIRE(held.size() < 10'000);
        held.push_back(text_of(1));
        limit_budgets.put(long_name, held.back(), start);
    }
    CHECK(held.size() > 7'000);  // 32 MiB of names
}

TEST_CASE("all who ask for the same before it is begun get what comes of it, once") {
    numbers asked;
    net::io_context io{1};
    std::vector<std::optional<int>> got;
    for (const int key : {1, 2, 1, 1}) ask(asked, key, io, 10s, 15, got);
    io.poll();
    int made = 0;
    const auto make = [&made](const numbers::job& job) { return job.key * 100 + ++made; };
    const running_loop working{[&] { return serve_desk(asked, make); }};
    io.restart();
    io.run();
    CHECK(got == std::vector<std::optional<int>>{101, 101, 101, 202});
}

TEST_CASE("who waits too long gets nothing, and what comes late hurts nobody") {
    numbers asked;
    std::vector<std::optional<int>> got;
    {
        net::io_context io{1};
        ask(asked, 1, io, 1ms, 15, got);
        io.run();
        CHECK(got == std::vector<std::optional<int>>{std::nullopt});
        ask(asked, 1, io, 10s, 15, got);
        io.restart();
        io.poll();
    }  // with someone who still waits
    const auto job = take(asked);
    REQUIRE(job);
    job->give(7);
    CHECK(got.size() == 1);
}

TEST_CASE("only so many different things are asked for at a time") {
    numbers asked;
    net::io_context io{1};
    std::vector<std::optional<int>> got;
    for (int key = 0; key < 5; ++key) ask(asked, key, io, 10s, 2, got);
    ask(asked, 2, io, 10s, 2, got);  // is asked for already
    ask(asked, 9, io, 10s, 3, got);
    io.poll();
    CHECK(got.size() == 2);  // the fourth and the fifth
    for (int key = 10; key < 100; ++key) asked.ask(key);
    for (std::size_t orders = 0; orders < numbers::jobs_max; ++orders) CHECK(take(asked));
    CHECK_FALSE(take(asked));
}

}  // namespace
}  // namespace seriesgate::testing::page_cache_test
