#include "core/guarded.hpp"

#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/catch.hpp"

using namespace seriesgate;

static_assert(!std::is_copy_constructible_v<guarded<int>::access>, "a lock is held once");

TEST_CASE("what is guarded is changed by one thread at a time") {
    constexpr std::uint64_t rounds = 20'000;
    guarded<std::uint64_t> count{0u};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&count] {
                for (std::uint64_t round = 0; round < rounds; ++round) {
                    const auto held = count.lock();
                    *held = *held + 1;  // not atomic
                }
            });
    }
    CHECK(*count.lock() == 4 * rounds);
}

TEST_CASE("a guarded value is made in place and reached by its members") {
    guarded<std::vector<int>> numbers{std::size_t{3}, 7};
    numbers.lock()->push_back(8);
    CHECK(*numbers.lock() == std::vector<int>{7, 7, 7, 8});
}
