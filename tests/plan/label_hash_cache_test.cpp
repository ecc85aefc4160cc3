// One table of labels for the planners of several threads.
#include "wire/label_hash_cache.hpp"

#include <atomic>
#include <random>
#include <thread>

#include "limit/limiter.hpp"
#include "plan/planner.hpp"
#include "series/fingerprint.hpp"
#include "support/catch.hpp"
#include "wire/wire_bytes.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// As different as a hash, and none comes twice.
std::uint64_t key_of(std::uint64_t series) {
    return avalanche(series + 1);
}
std::uint64_t sum_of(std::uint64_t key) {
    return avalanche(key ^ 0x5bd1e995);
}

}  // namespace

TEST_CASE("threads that learn at once never find another's") {
    label_hash_cache known{4 * 1'024};  // so that they meet
    std::atomic<std::uint64_t> wrong{0};
    const auto work = [&](std::uint64_t seed) {
        std::mt19937_64 random{seed};
        for (int i = 0; i < 100'000; ++i) {
            const std::uint64_t key = key_of(random() % 600);
            std::uint64_t sum = 0;
            if (!known.find(key, sum)) {
                known.learn(key, sum_of(key));
            } else if (sum != sum_of(key)) {
                ++wrong;
            }
        }
    };
    std::thread other{work, 1};
    work(2);
    other.join();
    CHECK(wrong == 0);
}

TEST_CASE("planners that share what they know of labels read what one alone reads") {
    constexpr int bodies_count = 20;
    std::vector<std::string> bodies;
    for (int i = 0; i < bodies_count; ++i) {
        std::string& body = bodies.emplace_back();
        for (int n = 0; n < 300; ++n)
            body += len_field(1, label("__name__", "up") + label("pod", std::to_string(97 * i + n)) + sample(n % 3));
    }
    const auto fingerprints_of = [](planner& planning, const std::string& body) {
        const bool is_sound = planning.read(body, "", protocol::v1).code == wire_errc::none;
        std::vector<std::uint64_t> all;
        for (const offered_series& each : planning.offered()) all.push_back(each.fingerprint);
        return is_sound ? all : std::vector<std::uint64_t>{};
    };
    planner alone{hash_key::known_to_all()};
    std::vector<std::vector<std::uint64_t>> expected;
    for (const std::string& body : bodies) expected.push_back(fingerprints_of(alone, body));
    REQUIRE(expected.front().size() == 300);

    label_hash_cache known{16 * 1'024};  // too small for all of them
    std::atomic<int> wrong{0};
    const auto work = [&](std::uint64_t seed) {
        planner planning{hash_key::known_to_all(), {}, symbol_bytes_per_request_max, &known};
        std::mt19937_64 random{seed};
        for (int i = 0; i < 400; ++i) {
            const std::size_t which = random() % bodies.size();
            if (fingerprints_of(planning, bodies[which]) != expected[which]) ++wrong;
        }
    };
    std::thread other{work, 1};
    work(2);
    other.join();
    CHECK(wrong == 0);
}
