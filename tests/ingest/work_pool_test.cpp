#include "ingest/outgoing.hpp"

#include "core/bytes.hpp"
#include "ingest/requests.hpp"
#include "limit/limiter.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::work_pool_test {
namespace {

struct scene {
    config settings;
    gauge held;
    inflight_room room{held, 1 << 30, 0};
    inflight_lease memory{room};
    label_hash_cache labels{};
    work_pool pool{settings, hash_key::known_to_all(), labels};
};

TEST_CASE("what has been given back is used again") {
    scene at;
    const request_work* first = nullptr;
    {
        const auto work = at.pool.take(at.memory);
        first = work.get();
        CHECK(at.pool.in_use() == 1);
        CHECK(at.pool.idle() == 0);
    }
    CHECK(at.pool.in_use() == 0);
    CHECK(at.pool.idle() == 1);
    CHECK(at.pool.take(at.memory).get() == first);
}

TEST_CASE("two requests that are in the middle at once have works of their own") {
    scene at;
    series_limiter limiter{{.global = {.hourly = 1}}, noon};
    inflight_lease other{at.room};
    auto one = at.pool.take(at.memory);
    auto two = at.pool.take(other);
    CHECK(one.get() != two.get());

    const std::string first = body_v1({"a", "b"});
    const std::string second = body_v2({"c", "a", "d"});
    REQUIRE(one->planning.read(first, "", protocol::v1).code == wire_errc::none);
    REQUIRE(two->planning.read(second, "", protocol::v2).code == wire_errc::none);
    const auto decided = one->planning.decide(limiter, noon, "");
    const auto other_decided = two->planning.decide(limiter, noon, "");
    REQUIRE(decided.has_value());
    REQUIRE(other_decided.has_value());
    CHECK(decided->received.samples == 2);
    CHECK(decided->refused.samples == 1);
    CHECK(decided->removed.size() == 1);
    CHECK(one->planning.labels(decided->refused_by[0].first.entry)[1].value == "b");
    CHECK(other_decided->received.samples == 3);
    CHECK(other_decided->refused.samples == 2);
    CHECK(two->planning.labels(other_decided->refused_by[0].first.entry)[1].value == "c");
}

TEST_CASE("no more than a few idle ones are kept") {
    scene at;
    std::vector<work_pool::lease> taken;
    for (std::size_t i = 0; i < work_pool::idle_max + 3; ++i) taken.push_back(at.pool.take(at.memory));
    CHECK(at.pool.in_use() == taken.size());
    taken.clear();
    CHECK(at.pool.in_use() == 0);
    CHECK(at.pool.idle() == work_pool::idle_max);
}

TEST_CASE("the memory of giants is given back, that of usual requests is kept") {
    scene at;
    constexpr std::size_t usual = 1 << 20;
    constexpr std::size_t giant = request_work::kept_buffer_bytes + 1;
    const auto use = [&at](std::size_t bytes) {
        const auto work = at.pool.take(at.memory);
        work->decoding.room_for(bytes);
        work->rewritten.reserve(bytes);
    };
    const auto kept = [&at] {
        const auto work = at.pool.take(at.memory);
        return std::pair{work->decoding.capacity(), held_bytes(work->rewritten)};
    };
    use(usual);
    CHECK(kept().first >= usual);
    CHECK(kept().second >= usual);
    use(giant);
    CHECK(kept().first == 0);
    CHECK(kept().second < usual);
}

TEST_CASE("what a work takes of the memory of all requests goes back with it") {
    scene at;
    REQUIRE(at.memory.grow(10));
    auto work = at.pool.take(at.memory);
    REQUIRE(work->memory->grow(90));
    CHECK(at.held.value() == 100);
    auto moved = std::move(work);
    CHECK(at.held.value() == 100);
    moved.reset();
    CHECK(at.held.value() == 10);
    CHECK(at.pool.in_use() == 0);
    CHECK_FALSE(at.pool.take(at.memory)->memory == std::nullopt);
}

TEST_CASE("a work may outlive its pool") {
    config settings;
    gauge held;
    inflight_room room{held, 1000, 0};
    inflight_lease memory{room};
    label_hash_cache labels;
    auto pool = std::make_optional<work_pool>(settings, hash_key::known_to_all(), labels);
    auto work = pool->take(memory);
    pool.reset();
    REQUIRE(work->memory->grow(5));
    work.reset();
    CHECK(held.value() == 0);
}

}  // namespace
}  // namespace seriesgate::testing::work_pool_test
