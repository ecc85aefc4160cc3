#include "core/synchronization.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "support/catch.hpp"

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

TEST_CASE("a reader sees the value published last") {
    published<int> value{std::make_unique<int>(1)};
    CHECK(*value.read() == 1);
    value.publish(std::make_unique<int>(2));
    CHECK(*value.read() == 2);
    for (int i = 3; i < 20; ++i) {
        value.publish(std::make_unique<int>(i));
        CHECK(*value.read() == i);
    }
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
