#include "base/metrics.hpp"

#include <atomic>
#include <thread>

#include "support/catch.hpp"

using namespace seriesgate;
using namespace std::chrono_literals;

TEST_CASE("a counter adds up what several threads add") {
    counter requests;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 10'000; ++n) requests.add(3);
        });
    }
    for (auto& thread : threads) thread.join();
    CHECK(requests.value() == 120'000);
}

TEST_CASE("a gauge goes up and down and below zero") {
    gauge connections;
    connections.add();
    connections.add(4);
    connections.sub(2);
    CHECK(connections.value() == 3);
    connections.sub(5);
    CHECK(connections.value() == -2);
    connections.set(9);
    CHECK(connections.value() == 9);
}

TEST_CASE("requests are counted by status code, and what is no status code is counted as other") {
    counter_by_status requests;
    requests[100].add();
    requests[204].add(2);
    requests[599].add(3);
    for (const unsigned strange : {0u, 99u, 600u, 4'000'000'000u}) requests[strange].add();
    CHECK(requests[100].value() == 1);
    CHECK(requests[204].value() == 2);
    CHECK(requests[599].value() == 3);
    CHECK(requests[200].value() == 0);
    CHECK(requests[counter_by_status::other].value() == 4);
    CHECK(requests.total() == 10);
}

TEST_CASE("a duration falls into the first bucket that holds it, bounds included") {
    duration_histogram histogram;
    histogram.observe(0ns);
    histogram.observe(500us);
    histogram.observe(500us + 1ns);
    histogram.observe(30s);
    histogram.observe(30s + 1ns);
    const auto read = histogram.read();
    CHECK(read.cumulative.front() == 2);
    CHECK(read.cumulative[1] == 3);
    CHECK(read.cumulative[13] == 3);
    CHECK(read.cumulative.back() == 4);
    CHECK(read.count == 5);
    CHECK(read.sum == 60s + 1ms + 2ns);
}

TEST_CASE("a negative duration counts as zero") {
    duration_histogram histogram;
    histogram.observe(-5s);
    const auto read = histogram.read();
    CHECK(read.cumulative.front() == 1);
    CHECK(read.sum == 0ns);
}

TEST_CASE("the bounds of the buckets grow and agree with their labels") {
    auto before = 0ns;
    for (const auto& bound : duration_histogram::bounds) {
        CAPTURE(bound.seconds);
        CHECK(bound.upper > before);
        CHECK(std::chrono::duration<double>(bound.upper).count() == std::stod(std::string{bound.seconds}));
        before = bound.upper;
    }
}

TEST_CASE("a histogram read while others observe never contradicts itself") {
    duration_histogram histogram;
    std::atomic<bool> stop{false};
    std::thread observer([&] {
        for (int i = 0; !stop; ++i) histogram.observe(std::chrono::milliseconds{i % 40'000});
    });
    bool consistent = true;
    for (int i = 0; i < 2'000; ++i) {
        const auto read = histogram.read();
        std::uint64_t before = 0;
        for (const auto bucket : read.cumulative) {
            consistent = consistent && bucket >= before;
            before = bucket;
        }
        consistent = consistent && read.count >= before;
    }
    stop = true;
    observer.join();
    CHECK(consistent);
}
