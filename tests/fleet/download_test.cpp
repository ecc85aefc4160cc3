// What a fleet has admitted, out of a real store into a gate's table.
#include "fleet/download.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "fleet/counting_gate.hpp"
#include "fleet/joined_gate.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing::download_test {
namespace {

constexpr std::int64_t hour = 1'139'580;  // 2100-01-01, noon
const time_point noon{std::chrono::hours{hour}};
constexpr std::uint64_t many = 20'000;
constexpr std::uint64_t budget = 5;

/// The gate has claimed in the hour before. @param room that the window is made for.
counting_gate gate_before(std::uint64_t room = 100'000) {
    return counting_gate{{.gate = "other", .run = 1, .hour = hour - 1, .limits = {1}, .room = room}};
}
void take(counting_gate& gate, std::uint64_t first, std::uint64_t count) {
    REQUIRE(gate.take(first, count, budget, 1'000'000) != 0);
}

struct downloading_gate : joined_gate {
    redis_client client{io, settings.store, shared.store};
    download under_test{shared, client};
    std::optional<bool> is_complete;

    downloading_gate(const open_windows& heard, time_point now)
        : joined_gate{{.global = {.hourly = 100'000, .daily = 100'000}}, now, heard} {}

    /// @param later connection than the one by which the windows were heard.
    void begin(std::uint64_t later = 0) {
        is_complete.reset();
        net::co_spawn(io, read(later), net::detached);
    }
    download_result ends() {
        const auto counts = [this] {
            std::map<download_result, std::uint64_t> all;
            for (const auto each : {download_result::complete, download_result::overtaken, download_result::failed})
                all[each] = metrics.downloads[each].value();
            return all;
        };
        auto before = counts();
        REQUIRE(runs_until([this] { return is_complete.has_value(); }));
        for (const auto& [result, count] : counts())
            if (count > before[result]) {
                CHECK(is_complete == (result == download_result::complete));
                return result;
            }
        FAIL("an end that was not counted");
        return {};
    }
    download_result reads(std::uint64_t later = 0) {
        begin(later);
        return ends();
    }

    [[nodiscard]] std::uint64_t incumbents(std::uint64_t first, std::uint64_t count) const {
        std::uint64_t found = 0;
        for (std::uint64_t i = first; i < first + count; ++i)
            found += limiter.was_admitted_before(fingerprint_of(i)) ? 1 : 0;
        return found;
    }
    [[nodiscard]] over_full is_over_full(std::uint64_t maximum) const {
        return shared.view.is_over_full({.id = budget, .limit = 1, .maxima = {.hourly = maximum}}, hour);
    }

    /// @return whether it knows how full budgets are.
    bool reads_counts() {
        is_complete.reset();
        net::co_spawn(io, read_counts(), net::detached);
        REQUIRE(runs_until([this] { return is_complete.has_value(); }));
        return *is_complete;
    }

  private:
    net::awaitable<void> read_counts() { is_complete = co_await under_test.read_counts(); }
    net::awaitable<void> read(std::uint64_t later) {
        std::vector<std::string> words{"PING"};
        static_cast<void>(co_await client.call(std::move(words), 5s));
        is_complete = co_await under_test.read(limiter, client.connection_epoch() - later);
    }
};

TEST_CASE("buckets are read from all parts of the table in turn, each once") {
    const std::uint32_t buckets = 1u << GENERATE(0, 1, 6, 16);
    std::vector<std::uint64_t> all;
    for (std::uint32_t n = 0; n < buckets; ++n) all.push_back(bucket_in_turn(n, buckets));
    // Of a table in so many parts each gets one bucket before any gets another.
    for (std::uint32_t parts = 1; parts <= buckets; parts *= 2) {
        std::set<std::uint64_t> reached;
        for (std::uint32_t n = 0; n < parts; ++n) reached.insert(all[n] * parts / buckets);
        CHECK(reached.size() == parts);
    }
}

TEST_CASE("a gate knows what others have admitted in the hour and in the one before, and how much that was") {
    counting_gate others = gate_before();
    take(others, 0, many);
    others.enter(hour);
    take(others, many / 2, many);
    downloading_gate gate{others.windows(), noon + 31min};
    CHECK(gate.shared.is_catching_up());
    CHECK(gate.is_over_full(many) == over_full::unknown);
    CHECK(gate.reads() == download_result::complete);
    CHECK(gate.known(0, 2 * many) == many);
    CHECK(gate.known(many / 2, many) == many);
    CHECK(gate.incumbents(0, 2 * many) == many);
    CHECK(gate.incumbents(0, many) == many);
    CHECK(gate.metrics.downloaded_series.value() == 2 * many);
    CHECK(gate.is_over_full(many - 1) == over_full::yes);
    CHECK(gate.is_over_full(many) == over_full::no);
    CHECK_FALSE(gate.shared.is_catching_up());
}

TEST_CASE("senders are waited for until the incumbents are known, too, if that makes a difference") {
    counting_gate others = gate_before();
    take(others, 0, 1'000);
    others.enter(hour);
    downloading_gate gate{others.windows(), noon + 1min};
    CHECK(gate.reads() == download_result::complete);
    CHECK(gate.incumbents(0, 1'000) == 1'000);
    CHECK(gate.shared.is_catching_up());  // the feed says when it is over
}

TEST_CASE("buckets that are no compact sets are read, too") {
    counting_gate others = gate_before(1);
    store_connection& connection = others.connection();
    const auto fills = [&] {
        take(others, 0, many);
        others.enter(hour);
        take(others, many, 40'000);
    };
    const std::string bucket = bucket_key_at(others.record(1), 0);
    SECTION("because a window has come to more than it was made for") {
        fills();
        REQUIRE(connection.text({"OBJECT", "ENCODING", bucket}) == "intset");
        REQUIRE(connection.text({"OBJECT", "ENCODING", bucket_key_at(others.record(-1), 0)}) == "hashtable");
    }
    SECTION("because the store was told so") {
        connection.ask({"CONFIG", "SET", "set-max-intset-entries", "10"});
        fills();
        connection.ask({"CONFIG", "SET", "set-max-intset-entries", "512"});
        REQUIRE(connection.text({"OBJECT", "ENCODING", bucket}) != "intset");
    }
    SECTION("because the gate may not use DUMP") {
        fills();
        connection.ask({"ACL", "SETUSER", "default", "-dump"});
    }
    downloading_gate gate{others.windows(), noon + 31min};
    const download_result result = gate.reads();
    connection.ask({"ACL", "SETUSER", "default", "+@all"});
    CHECK(result == download_result::complete);
    CHECK(gate.known(many, 40'000) == 40'000);
    CHECK(gate.incumbents(0, many) == many);
}

TEST_CASE("all budgets of a record are read, however many there are, with the series or alone") {
    counting_gate others = gate_before();
    take(others, 0, 1);
    std::vector<std::string> words{"HSET", others.record()};
    for (std::uint64_t id = 1'000; id < 5'000; ++id) {
        words.push_back(std::to_string(id));
        words.push_back(std::to_string(id + 1));
    }
    others.connection().ask(words);
    others.enter(hour);
    take(others, 1, 7);
    downloading_gate gate{others.windows(), noon + 31min};
    const bool reads_all = GENERATE(true, false);
    if (reads_all) CHECK(gate.reads() == download_result::complete);
    if (!reads_all) CHECK(gate.reads_counts());
    for (std::uint64_t id = 1'000; id < 5'000; ++id) REQUIRE(gate.shared.view.counts_of(id)->before == id + 1);
    CHECK((gate.shared.view.counts_of(budget) == fleet_view::budget_counts{.hourly = 7, .before = 1}));
    CHECK(gate.known(1, 7) == (reads_all ? 7 : 0));
    CHECK(gate.metrics.downloads.total() == (reads_all ? 1 : 0));
}

TEST_CASE("what is older than the hour before is not read, nor what is not there") {
    counting_gate others = gate_before();
    const bool is_empty = GENERATE(true, false);
    if (!is_empty) take(others, 0, 1'000);
    others.enter(hour + 1);
    downloading_gate gate{is_empty ? open_windows{} : others.windows(), noon + 61min};
    CHECK(gate.reads() == download_result::complete);
    CHECK(gate.known(0, 1'000) + gate.incumbents(0, 1'000) == 0);
    CHECK(gate.metrics.downloaded_series.value() == 0);
}

TEST_CASE("windows of another hour than the limiter's are not read") {
    counting_gate others = gate_before();
    take(others, 0, 1'000);
    downloading_gate gate{others.windows(), noon + 1min};
    CHECK(gate.reads() == download_result::overtaken);
    CHECK(gate.metrics.downloaded_series.value() == 0);
}

TEST_CASE("a download is overtaken by the hour's end and by a loss of data, and may be repeated") {
    counting_gate others = gate_before();
    take(others, 0, 1'000);
    others.enter(hour);
    take(others, 0, many);
    downloading_gate gate{others.windows(), noon + 31min};
    gate.begin();
    REQUIRE(gate.runs_until([&] { return gate.metrics.downloaded_series.value() != 0; }));
    REQUIRE_FALSE(gate.is_complete);
    open_windows next = others.windows();
    SECTION("the limiter has begun another hour") {
        others.enter(hour + 1);
        next = others.windows();
        static_cast<void>(gate.limiter.sets_at(noon + 61min));
        gate.shared.view.clock.correct(noon + 61min, hour + 1, fleet_shared::clocks().steady, noon + 61min);
    }
    SECTION("the store has, and the limiter will") {
        ++next.hour;
        gate.shared.view.hear(next);
        next.hour = hour;
    }
    SECTION("windows were dropped") {
        ++next.generation;
        gate.shared.view.begin("epoch", next);
        --next.generation;
    }
    SECTION("data was lost") {
        gate.shared.view.begin("other", next);
    }
    CHECK(gate.ends() == download_result::overtaken);
    gate.shared.view.begin("another", next);
    CHECK(gate.reads() == download_result::complete);
    CHECK(gate.incumbents(0, many) == (next.hour == hour ? 1'000 : many));
    CHECK(gate.known(0, many) == (next.hour == hour ? many : 0));
}

TEST_CASE("a connection that is lost meanwhile is no reason to know half of it") {
    counting_gate others = gate_before();
    others.enter(hour);
    take(others, 0, many);
    downloading_gate gate{others.windows(), noon + 31min};
    gate.begin();
    REQUIRE(gate.runs_until([&] { return gate.metrics.downloaded_series.value() != 0; }));
    others.connection().ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    REQUIRE_FALSE(gate.is_complete);
    CHECK(gate.ends() == download_result::failed);
    CHECK(gate.reads() == download_result::complete);
    CHECK(gate.known(0, many) == many);
}

TEST_CASE("a download from another server than the one that has named the windows has failed") {
    counting_gate others = gate_before();
    downloading_gate gate{others.windows(), noon - 1min};
    CHECK(gate.reads(1) == download_result::failed);
    CHECK(gate.reads() == download_result::complete);
}

TEST_CASE("what is in no store of a fleet fails") {
    counting_gate others = gate_before();
    take(others, 0, 1'000);
    const bool is_bucket = GENERATE(true, false);
    const std::string wrong = is_bucket ? bucket_key_at(others.record(), 7) : others.record();
    others.enter(hour);
    others.connection().ask({"DEL", wrong});
    const std::string kind = GENERATE("SET", "SADD");
    others.connection().ask({kind, wrong, "word"});
    downloading_gate gate{others.windows(), noon + 31min};
    CHECK(gate.reads() == download_result::failed);
    CHECK(gate.is_over_full(1) == over_full::unknown);
    CHECK(gate.reads_counts() == is_bucket);
    CHECK(gate.is_over_full(1) == (is_bucket ? over_full::yes : over_full::unknown));
}

TEST_CASE("a server that is not there fails") {
    downloading_gate gate{{.hour = hour, .buckets = {.hour = 4}}, noon};
    gate.settings.store.unix_path += "-nowhere";
    CHECK(gate.reads() == download_result::failed);
}

}  // namespace
}  // namespace seriesgate::testing::download_test
