#include "cardinality/refused_ring.hpp"

#include <fmt/format.h>

#include "support/allocations.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::refused_ring_test {
namespace {

const time_point noon{std::chrono::hours{12}};

refused_series named(const std::string& name) {
    refused_series made{.limit = "global", .when = noon};
    const std::vector<label_view> labels{{"__name__", name}};
    set_labels(made, labels);
    return made;
}

std::string name_of(const std::shared_ptr<const refused_series>& one) {
    return one->labels.at(0).second;
}

TEST_CASE("the last thousand are there, the newest first, each once") {
    refused_ring ring;
    for (std::uint64_t i = 0; i < 1'500; ++i) ring.put(i, named(fmt::format("m{}", i)));
    ring.put(600, named("again"));
    const auto all = ring.all();
    REQUIRE(all.size() == refused_ring::series_max);
    CHECK(name_of(all[0]) == "again");
    CHECK(name_of(all[1]) == "m1499");
    CHECK(name_of(all[899]) == "m601");
    CHECK(name_of(all[900]) == "m599");
    CHECK(name_of(all[999]) == "m500");
}

TEST_CASE("long labels take room from others, and there is an end to it") {
    refused_ring ring;
    const std::string half(100'000, 'x');
    for (std::uint64_t i = 0; i < 1'000; ++i) ring.put(i, named(half));
    CHECK(ring.all().size() == refused_ring::bytes_max / (100'000 + 8 + 64 + 320 + 6));
    refused_series giant;
    const std::string whole(refused_ring::series_bytes_max, 'y');
    const std::vector<label_view> labels{{"__name__", "m"}, {"a", whole}, {"b", "1"}};
    set_labels(giant, labels);
    CHECK(giant.is_cut);
    REQUIRE(giant.labels.size() == 2);
    CHECK(giant.labels[1].second.size() == refused_ring::series_bytes_max - (64 + 8 + 1) - (64 + 1));
    ring.put(5'000, std::move(giant));
    CHECK(ring.all()[0]->labels[0].second == "m");
}

TEST_CASE("a flood is granted so many a second, and no more than there is room for at once") {
    refused_ring ring;
    CHECK(ring.grant(3, noon) == 3);
    std::size_t granted = 3;
    for (int i = 0; i < 20; ++i) granted += ring.grant(50'000, noon + std::chrono::milliseconds{i});
    CHECK(granted == refused_ring::per_second);
    CHECK(ring.grant(1, noon) == 0);
    CHECK(ring.grant(50'000, noon + std::chrono::seconds{1}) == refused_ring::series_max);
}

TEST_CASE("what finds no memory takes no room") {
    refused_ring ring;
    for (std::uint64_t i = 0; i < 30'000; ++i) {
        refused_series one = named("m");
        fails_once(1, [&] { ring.put(i, std::move(one)); });
    }
    ring.put(1, named("last"));
    CHECK(name_of(ring.all().front()) == "last");
}

TEST_CASE("what had no room for it is said") {
    refused_series one{.limit = "per-path", .window = refusing_window::daily};
    CHECK(reason_of(one) == "limit per-path has no room this day");
    one.limit = "tenant";
    CHECK(reason_of(one) == "the tenant's limit has no room this day");
    one = {.limit = "global"};
    CHECK(reason_of(one) == "the global limit has no room this hour");
    one.limit = "__unavailable__";
    CHECK(reason_of(one) == "the store of the fleet has not answered");
}

}  // namespace
}  // namespace seriesgate::testing::refused_ring_test
