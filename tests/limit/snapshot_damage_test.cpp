// Snapshots that are not what was saved. (That a byte was changed is for the store's checksum to find.)

#include "limit/labelled.hpp"
#include "limit/snapshot_bytes.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

namespace seriesgate::testing::snapshot_damage_test {
namespace {

/// Filters are as small as they get: the rest is what matters here.
limit_rules small_filters() {
    limit_rules settings{.global = {.hourly = 200, .daily = 300}, .false_positive_rate = 0.9};
    settings.tenants.fallback = {.hourly = 100, .daily = 0};
    settings.tenants.tenants_max = 2;
    label_limit limit = limit_named("per-namespace", {"namespace", "job"}, {.hourly = 10, .daily = 0});
    limit.per_tenant = true;
    limit.groups_max = 2;
    settings.limits = {limit};
    return settings;
}

void send(labelled_offering& gate, time_point now) {
    for (const char* tenant : {"a", "b", "c"})
        for (const char* space : {"x", "y"})
            gate.offer({.tenant = tenant, .labels = {{"job", "j"}, {"namespace", space}}, .count = 13}, now);
}

/// A state with all that there is, in the grace after midnight.
std::string saved_state() {
    labelled_offering gate{small_filters(), at(23)};
    send(gate, at(23));
    send(gate, at(0, 5, 0, 1));
    return saved(gate.limiter);
}

/// All of the first and last bytes, and some of those between, which are mostly the filters' words.
std::vector<std::size_t> places_in(std::size_t size) {
    std::vector<std::size_t> places;
    const std::size_t step = sanitized ? 4'999 : 499;
    for (std::size_t i = 0; i < size; i += i < 200 || i + 3'000 > size ? 1 : step) places.push_back(i);
    return places;
}

const time_point now = at(0, 6, 0, 1);

}  // namespace

TEST_CASE("no part of a snapshot is taken for the whole") {
    const std::string bytes = saved_state();
    labelled_offering gate{small_filters(), now};
    const std::string untouched = saved(gate.limiter);
    for (const std::size_t size : places_in(bytes.size()))
        if (restored(gate.limiter, std::string_view{bytes}.substr(0, size), now)) FAIL("restored " << size << " bytes");
    CHECK_FALSE(restored(gate.limiter, bytes + '\0', now));
    CHECK_FALSE(restored(gate.limiter, bytes + bytes, now));
    // And nothing has changed: it still takes the whole.
    CHECK(saved(gate.limiter) == untouched);
    CHECK(restored(gate.limiter, bytes, now));
    CHECK(gate.hourly().series_current == 30);
}

TEST_CASE("a snapshot with a wrong byte is refused, or restored to something that works") {
    const std::string bytes = saved_state();
    std::uint64_t refused = 0;
    std::uint64_t taken = 0;
    auto gate = std::make_unique<labelled_offering>(small_filters(), now);
    for (const std::size_t place : places_in(bytes.size())) {
        if (place >= 200 && place % 5 != 0) continue;
        std::string damaged = bytes;
        damaged[place] = static_cast<char>(damaged[place] ^ std::array{1, 0x80, 0xff}[place % 3]);
        if (!restored(gate->limiter, damaged, now)) {
            ++refused;
            continue;
        }
        ++taken;
        send(*gate, now);
        CHECK(gate->hourly().series_max == 200);
        gate = std::make_unique<labelled_offering>(small_filters(), now);
    }
    CHECK(refused > 10);
    CHECK(taken > 10);
}

TEST_CASE("a budget of the first limit whose values are more than the limit has labels is damage") {
    limit_rules settings = small_filters();
    settings.limits[0].each = {"namespace"};
    settings.limits[0].per_tenant = false;
    labelled_offering gate{settings, now};
    gate.offer({.labels = {{"namespace", "namespace-abc"}}}, now);
    std::string bytes = saved(gate.limiter);
    const std::string one = "\x0dnamespace-abc";
    const std::string two = "\x01n\x0b" + std::string("amespace-ab");
    REQUIRE(one.size() == two.size());
    const std::size_t place = bytes.find(one);
    REQUIRE(place != std::string::npos);
    labelled_offering other{settings, now};
    CHECK_FALSE(restored(other.limiter, std::string{bytes}.replace(place, two.size(), two), now));
    CHECK(restored(other.limiter, bytes, now));
}

TEST_CASE("noise is no snapshot") {
    labelled_offering gate{small_filters(), now};
    random_numbers random{1};
    for (int i = 0; i < 200; ++i) {
        std::string noise(random.below(3'000), '\0');
        for (char& byte : noise) byte = static_cast<char>(random());
        if (restored(gate.limiter, noise, now)) FAIL("restored noise " << i);
    }
    CHECK_FALSE(restored(gate.limiter, "", now));
    CHECK_FALSE(restored(gate.limiter, std::string(1'000'000, '\0'), now));
    CHECK_FALSE(restored(gate.limiter, std::string(1'000'000, '\xff'), now));
    CHECK(gate.hourly().series_current == 0);
}

}  // namespace seriesgate::testing::snapshot_damage_test
