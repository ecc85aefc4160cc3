#include "core/synchronization.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <type_traits>

#include "core/text.hpp"
#include "support/catch.hpp"
#include "support/sanitizers.hpp"

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

TEST_CASE("one thread at a time holds a fair lock") {
    const int rounds = testing::sanitized ? 2'000 : 20'000;
    fair_mutex lock;
    std::uint64_t count = 0;  // no atomic: the lock is what makes it right
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < rounds; ++round) {
                const std::scoped_lock held{lock};
                ++count;
            }
        });
    for (auto& thread : threads) thread.join();
    CHECK(count == 4u * static_cast<std::uint64_t>(rounds));
}

TEST_CASE("who gives a fair lock back and wants it again waits for those who asked before") {
    fair_mutex lock;
    std::atomic<int> turns{0};
    std::atomic<bool> asked{false};
    lock.lock();
    std::thread waiting{[&] {
        asked = true;
        const std::scoped_lock held{lock};
        ++turns;
    }};
    // The other may be between saying so and asking, so it is given some rounds: with a std::mutex thousands would do.
    while (!asked) std::this_thread::yield();
    int rounds = 0;
    for (; turns == 0 && rounds < 1'000'000; ++rounds) {
        lock.unlock();
        lock.lock();
        if (turns == 0) std::this_thread::yield();
    }
    lock.unlock();
    waiting.join();
    CHECK(rounds < 1'000'000);
}

TEST_CASE("only one is singular") {
    CHECK(counted(0, "sample") == "0 samples");
    CHECK(counted(1, "sample") == "1 sample");
    CHECK(counted(2, "request") == "2 requests");
}
