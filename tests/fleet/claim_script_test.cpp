// The script as the gates send it, and in a store that is not as it should be.
#include <chrono>
#include <string>

#include "fleet/claim_store.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace claim_script_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t hour = 1'139'580;  // 2100-01-01, noon
const time_point noon{std::chrono::hours{hour}};

claim_terms terms_of(std::int64_t of, bucket_counts buckets = {}) {
    return {.hour = of, .rules = 1, .grace = 600, .with_day = true, .room = 1, .day_room = 1, .buckets = buckets};
}

claim claim_of(std::vector<std::uint64_t> fingerprints) {
    const auto count = static_cast<std::uint32_t>(fingerprints.size());
    return {.fingerprints = std::move(fingerprints),
            .runs = {{.series = count, .budgets = {0}}},
            .budgets = {{.id = 5, .maxima = {.hourly = 10}}}};
}

}  // namespace

TEST_CASE("the clock is the store's") {
    claim_store store;
    const auto now = std::stoll(store.connection().texts({"TIME"}).front());
    const claim asked = claim_of({1});
    std::vector<std::string> words{"EVAL", std::string{claim_script}};
    for (std::string& word : claim_words(asked, terms_of(now / 3600), store.keys())) words.push_back(std::move(word));
    const auto answer = read_claim_answer(*store.connection().ask(words), asked);
    REQUIRE(answer.has_value());
    const auto told = std::chrono::floor<std::chrono::seconds>(answer->windows.now).time_since_epoch().count();
    CHECK(told >= now);
    CHECK(told <= now + 60);
}

TEST_CASE("a key that is not the gates' is an error, and nothing is taken") {
    claim_store store;
    store.decide({}, terms_of(hour), noon);
    const claim_terms terms = terms_of(hour, {.hour = 1, .day = 1});
    const std::string record = store.keys().hour(hour), day = store.keys().day(day_of_hour(hour));
    const claim asked = claim_of({1, 2});
    const auto error_of = [&] {
        store.send(asked, terms);
        return std::string{store.connection().receive()->str};
    };

    SECTION("in place of the hour's bucket") {
        store.connection().ask({"SET", record + ":0", "x"});
        CHECK(error_of().find("WRONGTYPE") != std::string::npos);
        CHECK(store.fields(record).count("5") == 0);
    }
    SECTION("in place of the day's bucket: what is in the hour's set is counted") {
        store.connection().ask({"SET", day + ":0", "x"});
        CHECK(error_of().find("WRONGTYPE") != std::string::npos);
        CHECK(store.fields(record).at("5") == "1");
        CHECK(store.fields(record).at("members") == "1");
        CHECK(store.connection().number({"SCARD", record + ":0"}) == 1);
        CHECK(store.fields(day).count("5") == 0);
    }
    SECTION("in place of a record") {
        store.connection().ask({"SET", day, "x"});
        CHECK(error_of().find("WRONGTYPE") != std::string::npos);
        CHECK(store.connection().number({"EXISTS", record + ":0"}) == 0);
        CHECK(store.fields(record).count("members") == 0);
    }
}

TEST_CASE("a store without memory is an error, and nothing is taken") {
    claim_store store;
    store.decide({}, terms_of(hour), noon);
    const claim asked = claim_of({1, 2});
    store.connection().ask({"CONFIG", "SET", "maxmemory", "1"});
    store.send(asked, terms_of(hour, {.hour = 1, .day = 1}));
    const std::string error = store.connection().receive()->str;
    store.connection().ask({"CONFIG", "SET", "maxmemory", "0"});
    CHECK(error.find("OOM") != std::string::npos);
    CHECK(store.connection().number({"EXISTS", store.keys().hour(hour) + ":0"}) == 0);
    CHECK(store.fields(store.keys().hour(hour)).count("members") == 0);
    CHECK(store.decide(asked, terms_of(hour, {.hour = 1, .day = 1}), noon).budgets.front().hourly == 2);
}

TEST_CASE("every key of a window expires two hours after it, by bucket within ten minutes more") {
    claim_store store;
    claim_terms terms = terms_of(hour);
    terms.room = terms.day_room = 1'000'000;  // 4096 buckets
    terms.buckets = store.decide({}, terms, noon).windows.buckets;
    CHECK(terms.buckets == bucket_counts{.hour = 4096, .day = 4096});
    for (std::uint64_t bucket = 0; bucket < 4096; bucket += 128) {
        claim asked;
        for (std::uint64_t i = bucket; i < bucket + 128; ++i) asked.fingerprints.push_back(i);
        asked.runs = {{.series = 128}};
        store.decide(asked, terms, noon);
    }
    store_connection& connection = store.connection();
    const std::int64_t hour_ends = (hour + 1) * 3600, day_ends = (hour / 24 + 1) * 86'400;
    for (const std::uint64_t bucket : {0u, 1u, 599u, 600u, 4095u}) {
        const std::string name = std::string{":"} + std::to_string(bucket);
        const auto spread = static_cast<std::int64_t>(bucket % 600);
        CHECK(connection.number({"EXPIRETIME", store.keys().hour(hour) + name}) == hour_ends + 7200 + spread);
        CHECK(connection.number({"EXPIRETIME", store.keys().day(hour / 24) + name}) == day_ends + 7200 + spread);
    }
    CHECK(connection.number({"EXPIRETIME", store.keys().head()}) == hour_ends + 172'800);
    // All but the two that hold the clock.
    const std::string keyspace = connection.text({"INFO", "keyspace"});
    CHECK(keyspace.find("keys=8198,expires=8196,") != std::string::npos);
}

}  // namespace claim_script_test
