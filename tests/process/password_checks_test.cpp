#include "process/serving.hpp"

#include <condition_variable>
#include <mutex>

#include "base/clock.hpp"
#include "http/passwords.hpp"
#include "support/catch.hpp"
#include "support/running_loop.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;
using namespace std::chrono_literals;

TEST_CASE("who knows no password gets a quarter of a processor to guess with") {
    constexpr int cost = 8, guesses = 5;
    const std::string hash = bcrypt_of_nobody(cost);
    web_config settings;
    settings.basic_auth_users["alice"] = std::string{hash};
    const auto begins = thread_cpu_clock::now();
    CHECK_FALSE(bcrypt_matches("guessed", hash));
    const auto of_one_check = thread_cpu_clock::now() - begins;

    std::mutex guard;
    std::condition_variable hears;
    int answered = 0, wrong = 0;
    access_control access{settings};
    const running_loop checking{[&] { return check_passwords(access); }};
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < guesses; ++i) {
        password_question asked{.user = "alice", .hash = hash, .password = std::string{"guessed"}};
        asked.of[0] = static_cast<unsigned char>(i);
        REQUIRE(access.ask("10.0.0.1", asked, [&](password_verdict made) {
            const std::scoped_lock lock{guard};
            ++answered;
            wrong += made == password_verdict::wrong;
            hears.notify_all();
        }));
    }
    std::unique_lock lock{guard};
    REQUIRE(hears.wait_for(lock, 20s, [&] { return answered == guesses; }));
    CHECK(wrong == guesses);
    // Five checks and four rests, each of three checks: 17. The checks are not equally quick.
    CHECK(std::chrono::steady_clock::now() - began > 13 * of_one_check);
}
