// What a fleet has admitted, out of a real store into a gate's limiter.
#include "fleet/download.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <functional>
#include <string>
#include <vector>

#include "fleet/claim_store.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"
#include "limit/offering.hpp"
#include "limit/window_rotation.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

namespace seriesgate {
namespace download_test {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr std::int64_t hour = 1'139'580;  // 2100-01-01, noon
const time_point noon{std::chrono::hours{hour}};
constexpr std::uint64_t many = 20'000;
const limit_rules room_for_many{.global = {.hourly = 100'000, .daily = 100'000}};

std::vector<std::uint64_t> series(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> made;
    for (std::uint64_t i = first; i < first + count; ++i) made.push_back(fingerprint_of(i));
    return made;
}

/// A namespace in which gates have admitted series.
struct filled_store {
    claim_store store;

    /// @param room that the window is made for
    void take(std::int64_t in, std::uint64_t first, std::uint64_t count, std::uint64_t room = 100'000) {
        claim_terms terms{.hour = in, .rules = 1, .grace = 600, .room = room};
        const time_point now{std::chrono::hours{in} + 30min};
        for (std::uint64_t at = 0; at < count; at += claimed_series_max) {
            const std::uint64_t some = std::min<std::uint64_t>(claimed_series_max, count - at);
            const claim asked{.fingerprints = series(first + at, some),
                              .runs = {{.series = static_cast<std::uint32_t>(some), .budgets = {0}}},
                              .budgets = {{.id = 5, .maxima = {.hourly = 1'000'000}}}};
            claim_answer said = store.decide(asked, terms, now);
            if (said.status == claim_status::moved) {
                terms.buckets = said.windows.buckets;
                said = store.decide(asked, terms, now);
            }
            REQUIRE(said.status == claim_status::decided);
        }
    }
    /// As gates leave it: they find the counts whole. (Those of claim_store name no server.)
    void is_whole() {
        const std::string info = store.connection().text({"INFO", "server"}), key = "run_id:";
        const std::size_t begin = info.find(key) + key.size();
        const std::string run_id = info.substr(begin, info.find('\r', begin) - begin);
        store.connection().ask({"HSET", store.keys().head(), "server", run_id});
    }
};

/// A gate that has joined at that moment, and knows nothing.
struct joined_gate {
    shared_config settings{
        .url = "unix:", .store = {.unix_path = the_store().socket(), .timeout = 5s}, .name_space = "t"};
    fleet_metrics metrics;
    fleet_shared shared{settings, metrics};
    series_limiter limiter;
    net::io_context io;
    download under_test{io, shared};

    explicit joined_gate(time_point now)
        : limiter{room_for_many, now, hash_key::known_to_all(), limit_scope::fleet, tested_set()} {
        is_told(now);
        shared.set_state(fleet_state::joined);
        net::co_spawn(io, under_test.run(limiter), net::detached);
    }

    void is_told(time_point now) { shared.clock.hear(now, std::chrono::steady_clock::now()); }
    [[nodiscard]] std::uint64_t ended(download_result how) const { return metrics.downloads[how].value(); }

    void runs_until(const std::function<bool()>& it_is_so) {
        const auto give_up = std::chrono::steady_clock::now() + 20s;
        while (!it_is_so() && std::chrono::steady_clock::now() < give_up) io.run_for(1ms);
        REQUIRE(it_is_so());
    }
    void downloads() {
        runs_until(
            [this, before = ended(download_result::complete)] { return ended(download_result::complete) > before; });
    }

    [[nodiscard]] std::uint64_t known(std::uint64_t first, std::uint64_t count) const {
        const auto current = limiter.state().sets.read();
        std::uint64_t found = 0;
        for (const std::uint64_t each : series(first, count)) found += current->hour_has(each) ? 1 : 0;
        return found;
    }
    [[nodiscard]] std::uint64_t incumbents(std::uint64_t first, std::uint64_t count) const {
        const auto current = limiter.state().sets.read();
        std::uint64_t found = 0;
        for (const std::uint64_t each : series(first, count)) found += current->was_admitted_before(each);
        return found;
    }
    /// In its filter, which says so of others now and then; or its table.
    [[nodiscard]] std::uint64_t hour_size() const {
        const auto current = limiter.state().sets.read();
        if (!current->table) return current->hour->size();
        const minute_number begins = minute_of(current->hour_span.start);
        std::uint64_t found = 0, next = 0;
        const auto count = [&](std::uint64_t, const series_mark& mark) { found += mark.seen >= begins ? 1 : 0; };
        while (current->table->visit_some(next, count)) {
        }
        return found;
    }
};

TEST_CASE("a gate knows what others have admitted in the hour, and in the one before") {
    filled_store others;
    others.take(hour - 1, 0, many);
    others.take(hour, many / 2, many);
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.downloads();
    CHECK(gate.known(many / 2, many) == many);
    CHECK(gate.incumbents(0, many) == many);
    CHECK(gate.known(0, many / 2) <= 20);
    CHECK(gate.incumbents(many, many / 2) <= 20);
    CHECK(gate.hour_size() >= many - 20);
    CHECK(gate.hour_size() <= many);
    CHECK(gate.metrics.downloaded_series.value() == 2 * many);
    CHECK_FALSE(gate.shared.is_catching_up());
}

TEST_CASE("buckets that are no compact sets are read, too") {
    filled_store others;
    others.take(hour - 1, 0, many, 1);
    SECTION("because a window has come to more than it was made for") {
        others.take(hour, many, 40'000, 1);  // as many buckets as for the hour before
        REQUIRE(others.store.connection().text({"OBJECT", "ENCODING", others.store.keys().hour(hour) + ":0"}) ==
                "intset");
    }
    SECTION("or because the store was told so") {
        others.store.connection().ask({"CONFIG", "SET", "set-max-intset-entries", "10"});
        others.take(hour, many, 40'000, 1);
        others.store.connection().ask({"CONFIG", "SET", "set-max-intset-entries", "512"});
    }
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.downloads();
    CHECK(gate.known(many, 40'000) == 40'000);
    CHECK(gate.incumbents(0, many) == many);
}

TEST_CASE("a store whose hour has not begun has only the hour before") {
    filled_store others;
    others.take(hour - 1, 0, 1'000);
    others.is_whole();
    joined_gate gate{noon + 1min};
    gate.downloads();
    CHECK(gate.hour_size() == 0);
    CHECK(gate.incumbents(0, 1'000) == 1'000);
}

TEST_CASE("what is older than the hour before is not read, nor what is not there") {
    filled_store others;
    const bool is_empty = GENERATE(true, false);
    if (!is_empty) others.take(hour - 2, 0, 1'000);
    others.is_whole();
    joined_gate gate{noon + 1min};
    gate.downloads();
    CHECK(gate.hour_size() == 0);
    CHECK(gate.incumbents(0, 1'000) == 0);
    CHECK(gate.metrics.downloaded_series.value() == 0);
}

TEST_CASE("nothing is believed of a server whose counts are not whole, until they are") {
    filled_store others;
    others.take(hour, 0, 1'000);
    joined_gate gate{noon + 31min};
    gate.runs_until([&] { return gate.ended(download_result::failed) != 0; });
    CHECK(gate.hour_size() == 0);
    CHECK_FALSE(gate.shared.is_catching_up());  // senders do not wait for a second attempt
    others.is_whole();
    gate.downloads();
    CHECK(gate.known(0, 1'000) == 1'000);
}

TEST_CASE("a gate that has not joined waits with it") {
    filled_store others;
    others.take(hour, 0, 1'000);
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.shared.set_state(fleet_state::away);
    gate.io.run_for(200ms);
    CHECK(gate.metrics.downloads.total() == 0);
    CHECK_FALSE(gate.shared.is_catching_up());
    gate.shared.set_state(fleet_state::joined);
    CHECK(gate.shared.is_catching_up());
    gate.downloads();
    CHECK(gate.known(0, 1'000) == 1'000);
}

TEST_CASE("it is done again when somebody asks, and only then") {
    filled_store others;
    others.take(hour, 0, 1'000);
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.downloads();
    others.store.connection().ask({"HSET", others.store.keys().head(), "server", ""});
    others.take(hour, 1'000, 1'000);
    others.is_whole();
    gate.io.run_for(200ms);
    CHECK(gate.metrics.downloads.total() == 1);
    net::co_spawn(gate.io, gate.under_test.once_more(), net::detached);
    gate.downloads();
    CHECK(gate.known(0, 2'000) == 2'000);
    CHECK(gate.ended(download_result::failed) == 0);
}

TEST_CASE("an hour that ends meanwhile is read as the one before") {
    filled_store others;
    others.take(hour, 0, 80'000);
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.runs_until([&] { return gate.metrics.downloaded_series.value() != 0; });
    gate.is_told(noon + 61min);
    (void)gate.limiter.time().in_force(gate.shared.now());  // as a request does
    REQUIRE(gate.ended(download_result::complete) == 0);
    gate.downloads();
    CHECK(gate.ended(download_result::overtaken) == 1);
    CHECK(gate.hour_size() == 0);
    CHECK(gate.incumbents(0, 80'000) == 80'000);
}

TEST_CASE("a connection that is lost meanwhile is no reason to know half of it") {
    filled_store others;
    others.take(hour, 0, 80'000);
    others.is_whole();
    joined_gate gate{noon + 31min};
    gate.runs_until([&] { return gate.metrics.downloaded_series.value() != 0; });
    others.store.connection().ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    REQUIRE(gate.ended(download_result::complete) == 0);
    gate.downloads();
    CHECK(gate.ended(download_result::failed) >= 1);
    CHECK(gate.known(0, 80'000) == 80'000);
}

TEST_CASE("a server that is not there fails, and is tried again") {
    joined_gate gate{noon};
    gate.settings.store.unix_path += "-nowhere";
    gate.runs_until([&] { return gate.ended(download_result::failed) >= 2; });
    CHECK(gate.ended(download_result::complete) == 0);
}

}  // namespace
}  // namespace download_test

}  // namespace seriesgate
