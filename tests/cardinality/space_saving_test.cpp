#include "cardinality/space_saving.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "support/catch.hpp"

namespace seriesgate::testing::space_saving_test {
namespace {

const time_point noon{std::chrono::hours{12}};

/// Of a value of Zipf's distribution: the smaller, the more often.
class zipf_numbers {
    std::mt19937_64 random_;
    std::vector<double> sums_;

  public:
    zipf_numbers(std::size_t values, double exponent, std::uint64_t seed) : random_(seed) {
        double sum = 0;
        for (std::size_t i = 1; i <= values; ++i) sums_.push_back(sum += std::pow(static_cast<double>(i), -exponent));
    }
    std::uint64_t next() {
        const double at = std::uniform_real_distribution<double>{0, sums_.back()}(random_);
        return static_cast<std::uint64_t>(std::ranges::lower_bound(sums_, at) - sums_.begin());
    }
};

std::uint64_t key_of(std::uint64_t value) {
    return (value + 1) * 0x9E37'79B9'7F4A'7C15;
}

void add(space_saving& to, std::uint64_t value, std::uint64_t series = 1, time_point now = noon) {
    const std::string text = fmt::format("v{}", value);
    to.add(key_of(value), {.tenant = "t", .value = text}, series, now);
}

std::vector<top_entry> sorted(const space_saving& of) {
    std::vector<top_entry> all(of.all().begin(), of.all().end());
    std::ranges::sort(all, std::ranges::greater{}, &top_entry::series);
    return all;
}

/// Every counter is right within what it says, and whoever has none has no more than error_max.
void check(const space_saving& all, const std::map<std::uint64_t, std::uint64_t>& exact, std::size_t counters) {
    std::uint64_t total = 0, wrong = 0;
    std::map<std::string, top_entry> by_value;
    for (const top_entry& each : all.all()) by_value[each.value] = each;
    REQUIRE(by_value.size() == all.all().size());
    for (const auto& [value, count] : exact) {
        total += count;
        const auto found = by_value.find(std::string{"v"} + std::to_string(value));
        if (found == by_value.end()) {
            wrong += count > all.error_max();
            continue;
        }
        const top_entry& is = found->second;
        wrong += !(count <= is.series && is.series - is.error <= count);
        wrong += is.error > total + all.total();
    }
    CHECK(wrong == 0);
    CHECK(all.total() == total);
    CHECK(all.error_max() <= total / counters);
}

constexpr std::size_t kept_max = 262'144;

TEST_CASE("as long as there are counters for all, counts are exact") {
    space_saving all{3};
    add(all, 1);
    add(all, 2, 5, noon + std::chrono::seconds{1});
    add(all, 1, 2, noon + std::chrono::seconds{2});
    add(all, 3);
    const auto top = sorted(all);
    REQUIRE(top.size() == 3);
    CHECK(top[0].value == "v2");
    CHECK(top[0].series == 5);
    CHECK(top[1].value == "v1");
    CHECK(top[1].series == 3);
    CHECK(top[1].error == 0);
    CHECK(top[1].tenant == "t");
    CHECK(top[1].first_seen == noon);
    CHECK(top[1].last_seen == noon + std::chrono::seconds{2});
    CHECK(all.total() == 9);
    CHECK(all.error_max() == 1);
}

TEST_CASE("a newcomer takes the place of whoever has the fewest, and says by how much it may be wrong") {
    space_saving all{2};
    add(all, 1, 10);
    add(all, 2, 4);
    const time_point later = noon + std::chrono::minutes{1};
    CHECK_FALSE(all.add(key_of(1), {.value = "v1"}, 1, noon).is_new);
    const auto counted = all.add(key_of(3), {.value = "v3", .detail = "more"}, 2, later);
    CHECK(counted.is_new);
    const top_entry& is = all.all()[counted.slot];
    CHECK(is.value == "v3");
    CHECK(is.detail == "more");
    CHECK(is.tenant.empty());
    CHECK(is.series == 6);
    CHECK(is.error == 4);
    CHECK(is.first_seen == later);
    CHECK(all.key(counted.slot) == key_of(3));
    CHECK(all.error_max() == 6);
    CHECK(all.total() == 17);
}

TEST_CASE("counts are within their bounds, and the first ten are the first ten") {
    const double exponent = GENERATE(0.8, 1.0, 1.5);
    zipf_numbers numbers{20'000, exponent, 7};
    space_saving all{1'024};
    std::map<std::uint64_t, std::uint64_t> exact;
    for (int i = 0; i < 300'000; ++i) {
        const std::uint64_t value = numbers.next();
        ++exact[value];
        add(all, value);
    }
    check(all, exact, 1'024);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> wanted;  // count, value
    for (const auto& [value, count] : exact) wanted.emplace_back(count, value);
    std::ranges::sort(wanted, std::ranges::greater{});
    const auto top = sorted(all);
    for (std::size_t i = 0; i < 10; ++i) {
        CAPTURE(i);
        CHECK(top[i].value == std::string{"v"} + std::to_string(wanted[i].second));
    }
}

TEST_CASE("two summaries become one, and errors add up") {
    space_saving one{256}, other{256};
    zipf_numbers numbers{5'000, 1.0, 3};
    std::map<std::uint64_t, std::uint64_t> exact;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t value = numbers.next();
        ++exact[value];
        add(i % 3 == 0 ? one : other, value, 1, noon + std::chrono::seconds{i});
    }
    one.merge(other);
    CHECK(one.all().size() == 256);
    check(one, exact, 128);
    add(one, 3, 1'000'000);  // places and heap are in order again
    CHECK(sorted(one)[0].value == "v3");
    for (std::uint64_t i = 0; i < 1'000; ++i) add(one, 100'000 + i, 10'000'000);
    CHECK(one.all().size() == 256);
    CHECK(std::ranges::none_of(one.all(), [](const top_entry& each) { return each.value == "v3"; }));
}

TEST_CASE("an empty summary changes nothing") {
    space_saving one{4}, none{4};
    add(one, 1, 3);
    one.merge(none);
    CHECK(one.all().size() == 1);
    CHECK(one.all()[0].series == 3);
    none.merge(one);
    CHECK(none.all()[0].series == 3);
    CHECK(none.total() == 3);
    none.clear();
    CHECK(none.all().empty());
    CHECK(none.error_max() == 0);
}

TEST_CASE("long texts are cut between characters") {
    space_saving all{1};
    const std::string text = std::string(255, 'x') + "\xC3\xA4" + std::string(70'000, 'y');
    all.add(1, {.value = text}, 1, noon);
    CHECK(all.all()[0].value == std::string(255, 'x'));
    all.add(2, {.value = std::string(300, 'z')}, 1, noon);
    CHECK(all.all()[0].value == std::string(256, 'z'));
}

TEST_CASE("as long as all can be remembered, each counts once") {
    thinning distinct{kept_max};
    std::mt19937_64 random{1};
    std::vector<std::uint64_t> series(kept_max);
    std::uint64_t sum = 0;
    for (std::uint64_t& each : series) sum += distinct.weigh(each = random());
    CHECK(sum == kept_max);
    for (const std::uint64_t each : series) sum += distinct.weigh(each);
    CHECK(sum == kept_max);
    CHECK(distinct.weight() == 1);
}

TEST_CASE("beyond, what is looked at stands for what is not, however often it comes") {
    thinning distinct{kept_max};
    std::mt19937_64 random{2};
    std::vector<std::uint64_t> series(1'000'000);
    for (std::uint64_t& each : series) each = random();
    std::uint64_t sum = 0, looked_at = 0;
    for (int times = 0; times < 3; ++times)
        for (const std::uint64_t each : series) {
            const std::uint64_t weight = distinct.weigh(each);
            sum += weight;
            looked_at += weight != 0;
        }
    CHECK(distinct.weight() == 4);
    const double standard_error = std::sqrt(1e6 * 4);
    CHECK(std::abs(static_cast<double>(sum) - 1e6) < 4 * standard_error);
    CHECK(looked_at < 600'000);
    distinct.clear();
    CHECK(distinct.weight() == 1);
    CHECK(distinct.weigh(series[0]) == 1);
}

TEST_CASE("who knows the fingerprints that stay gets no further than the memory") {
    thinning distinct{kept_max};
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < 3 * kept_max; ++i) sum += distinct.weigh(i);  // 44 leading zeros each, or more
    CHECK(distinct.weigh(~std::uint64_t{0}) == 0);
    CHECK(distinct.weight() == thinning::weight_max);
    CHECK(sum >= kept_max);
}

}  // namespace
}  // namespace seriesgate::testing::space_saving_test
