#include "core/synchronization.hpp"

#include <atomic>
#include <mutex>
#include <thread>
#include <type_traits>

#include "support/catch.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;

namespace {

/// Knows whether it is alive, and how many of its kind are.
class canary {
    static constexpr std::uint64_t alive = 0x5a5a5a5a5a5a5a5a;
    std::atomic<int>& count_;
    std::uint64_t state_ = alive;
    std::vector<std::uint64_t> copies_;  // memory of its own, which a sanitizer sees freed

  public:
    canary(std::atomic<int>& count, std::uint64_t number) : count_{count}, copies_(16, number) { ++count_; }
    canary(const canary&) = delete;
    canary& operator=(const canary&) = delete;
    ~canary() {
        state_ = 0;
        copies_.assign(copies_.size(), 0);
        --count_;
    }

    [[nodiscard]] std::uint64_t number() const { return copies_.front(); }
    [[nodiscard]] bool intact() const {
        if (state_ != alive) return false;
        for (const auto copy : copies_)
            if (copy != copies_.front()) return false;
        return true;
    }
};

}  // namespace

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

TEST_CASE("a reader keeps what it saw while others are published") {
    std::atomic<int> count{0};
    published<canary> value{std::make_unique<canary>(count, 1)};
    {
        const auto first = value.read();
        value.publish(std::make_unique<canary>(count, 2));
        const auto second = value.read();
        for (std::uint64_t number = 3; number < 30; ++number) {
            value.publish(std::make_unique<canary>(count, number));
            static_cast<void>(value.reclaim());
            REQUIRE(first->intact());
            REQUIRE(first->number() == 1);
            REQUIRE(second->intact());
            REQUIRE(second->number() == 2);
            REQUIRE(value.read()->number() == number);
        }
    }
    static_cast<void>(value.reclaim());
    CHECK(count == 1);
}

TEST_CASE("reclaim frees what nobody reads any more, and nothing else") {
    std::atomic<int> count{0};
    {
        published<canary> value{std::make_unique<canary>(count, 1)};
        std::unique_ptr<published<canary>::reader> reader{new published<canary>::reader(value.read())};
        value.publish(std::make_unique<canary>(count, 2));
        value.publish(std::make_unique<canary>(count, 3));
        CHECK(count == 3);
        {
            const auto retired = value.reclaim();  // for the caller to destroy when it likes
            CHECK(count == 3);
        }
        CHECK(count == 2);
        CHECK((*reader)->intact());
        reader.reset();
        static_cast<void>(value.reclaim());
        CHECK(count == 1);
        static_cast<void>(value.reclaim());
        CHECK(value.read()->number() == 3);
    }
    CHECK(count == 0);
}

TEST_CASE("many readers beside a writer never see a freed value, and time never runs backwards for them") {
    constexpr std::uint64_t publications = 20000;
    constexpr int readers = 4;
    std::atomic<int> count{0};
    {
        published<canary> value{std::make_unique<canary>(count, 0)};
        std::atomic<int> wrong{0};
        std::atomic<std::uint64_t> reads{0};
        std::vector<std::jthread> threads;
        for (int i = 0; i < readers; ++i)
            threads.emplace_back([&] {
                for (std::uint64_t last = 0; last < publications;) {
                    const auto seen = value.read();
                    if (!seen->intact() || seen->number() < last) ++wrong;
                    last = seen->number();
                    ++reads;
                }
            });
        for (std::uint64_t number = 1; number <= publications; ++number) {
            value.publish(std::make_unique<canary>(count, number));
            if (number % 3 == 0) static_cast<void>(value.reclaim());
        }
        threads.clear();  // joins
        CHECK(wrong == 0);
        CHECK(reads > 0);
        CHECK(value.read()->number() == publications);
        static_cast<void>(value.reclaim());
        CHECK(count == 1);
    }
    CHECK(count == 0);
}
