#include "admin/pages.hpp"

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

namespace page_test {
namespace {

const page_key whole{.kind = page_kind::stats};
const page_key cut{.kind = page_kind::stats, .shown = {.shown_max = 5}};
const auto start = std::chrono::steady_clock::time_point{} + 1h;

page_text text_of(std::size_t bytes) {
    return std::make_shared<const std::string>(bytes, 'x');
}

}  // namespace

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
    CHECK(limit_budgets.newest({.kind = page_kind::stats, .shown = {.shown_max = 6}}, start + 12s) == nullptr);
    CHECK(limit_budgets.newest({.kind = page_kind::metrics}, start + 12s) == nullptr);
    second = nullptr;
    CHECK(limit_budgets.newest(whole, start + 12s) == first);
    CHECK(limit_budgets.newest(whole, start + page_cache::age_max) == first);
    CHECK(limit_budgets.newest(whole, start + page_cache::age_max + 1ns) == nullptr);
    CHECK(limit_budgets.newest(cut, start + page_cache::age_max + 1s) == other);
}

TEST_CASE("a part is another page than the whole, and than other parts") {
    CHECK(cut.is_part());
    const page_key of_tenant{.kind = page_kind::stats, .shown = {.tenant = "5"}};
    const page_key of_limit{.kind = page_kind::stats, .shown = {.limit = "5"}};
    CHECK((of_tenant.is_part() && of_limit.is_part()));
    CHECK((of_tenant != of_limit && of_tenant != cut && of_limit != cut));
    CHECK(page_key{.kind = page_kind::stats, .shown = {.tenant = ""}}.is_part());
    CHECK_FALSE(whole.is_part());
    CHECK_FALSE(page_key{.kind = page_kind::metrics}.is_part());
}

TEST_CASE("a name that is asked for takes its share of what may be held") {
    page_cache limit_budgets;
    std::vector<page_text> held;
    const page_key long_name{.kind = page_kind::stats, .shown = {.tenant = std::string(4096, 'x')}};
    while (limit_budgets.has_room()) {
        REQUIRE(held.size() < 10'000);
        held.push_back(text_of(1));
        limit_budgets.put(long_name, held.back(), start);
    }
    CHECK(held.size() > 7'000);  // 32 MiB of names
}

}  // namespace page_test
