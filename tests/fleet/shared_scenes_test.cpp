// What went wrong with the first protocol, as scenes of the shared store and its model: see fleet/PROTOCOL.md.

#include "fleet/shared_store.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

constexpr std::int64_t hour = 1'139'580;  // noon, 2100-01-01

/// Some gates, one budget.
class few_gates {
    shared_store_and_model both_;
    open_windows known_{};
    std::string epoch_, server_ = "s";
    std::vector<gate_heard_of> gates_{}, heard_of_{};

  public:
    few_gates() {
        for (const auto at : {0s, 2s, 4s}) beat("a", begin_of(hour) + at, true);
    }
    static time_point begin_of(std::int64_t of) { return time_point{std::chrono::hours{of}}; }
    shared_store_and_model& both() { return both_; }

    store_state beat(const std::string& gate, time_point now, bool is_told, bool leaves = false,
                     std::optional<std::uint64_t> refilled = {}, bool has_lapsed = false) {
        const heartbeat_answer answer = both_.beat({.gate = gate,
                                                    .fingerprints = "f",
                                                    .version = "1",
                                                    .clock = now,
                                                    .epoch = epoch_,
                                                    .hour = known_.hour,
                                                    .generation = known_.generation,
                                                    .is_told = is_told,
                                                    .has_lapsed = has_lapsed,
                                                    .refilled = refilled,
                                                    .grace = 600s,
                                                    .leaves = leaves,
                                                    .heard_of = heard_of_},
                                                   server_, now);
        epoch_ = answer.state.epoch;
        known_ = answer.state.windows;
        gates_ = answer.gates;
        return answer.state;
    }
    /// All that the last heartbeat was told of, and what each further one names.
    [[nodiscard]] std::vector<gate_heard_of> heard_of() const { return gates_; }
    /// Whether the store still has that gate, when another one names these.
    bool names(const std::string& gate, time_point now, std::vector<gate_heard_of> of = {}) {
        heard_of_ = std::move(of);
        beat("b", now, true);
        heard_of_.clear();
        return std::ranges::any_of(gates_, [&gate](const gate_heard_of& each) { return each.name == gate; });
    }
    /// With its data. @return the epoch before
    std::string restart_store() {
        server_ += "'";
        return epoch_;
    }
    /// @return the epoch that the gates have known
    std::string knows(std::string epoch) { return std::exchange(epoch_, std::move(epoch)); }

    struct taken {
        std::uint64_t series = 0;
        std::uint64_t refused = 0;
    };
    /// Series first to first + count - 1, in calls of a hundred.
    taken send(call_kind kind, std::uint64_t first, std::uint64_t count, std::uint64_t maximum, time_point now) {
        return send(kind, first, count, {.id = 1, .limit = 1, .maxima = {.hourly = maximum}}, now);
    }
    taken send(call_kind kind, std::uint64_t first, std::uint64_t count, const shared_budget& budget, time_point now,
               entered_windows windows = {.hour = true, .day = true}) {
        taken all;
        for (std::uint64_t i = 0; i < count; i += 100) {
            store_call asked{.kind = kind, .runs = {{.series = 100, .budgets = {0}, .windows = windows}}};
            asked.budgets.push_back(budget);
            for (std::uint64_t n = 0; n < 100; ++n) asked.fingerprints.push_back(fingerprint_of(first + i + n));
            store_answer answer;
            for (int attempt = 0; attempt < 2; ++attempt) {
                gate_terms terms{.gate = "a",
                                 .run = 1,
                                 .clock = now,
                                 .epoch = epoch_,
                                 .hour = now.time_since_epoch() / 1h,
                                 .generation = known_.generation,
                                 .buckets = known_.buckets,
                                 .limits = {budget.limit},
                                 .room = 1000};
                if (budget.sharing != 0) terms.limits.push_back(budget.sharing);
                answer = both_.decide(asked, terms, server_, now);
                known_ = answer.windows;
            }
            REQUIRE(answer.status == store_status::decided);
            for (const series_decision& each : answer.series) {
                all.series += each.outcome == store_outcome::taken || each.outcome == store_outcome::known ? 1 : 0;
                all.refused += each.outcome == store_outcome::refused ? 1 : 0;
            }
        }
        return all;
    }
};

}  // namespace

TEST_CASE("a limit that is enforced after it was observed admits the series of before, first come, first served") {
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 10min;
    CHECK(gates.send(call_kind::claim, 0, 1900, 0, now).series == 1900);  // observed: no maximum
    CHECK(gates.send(call_kind::claim, 5000, 100, 1000, now).refused == 100);
    const auto next = few_gates::begin_of(hour + 1) + 1min;
    CHECK(gates.send(call_kind::claim, 5000, 500, 1000, next).refused == 500);  // an explosion comes first, in vain
    const auto back = gates.send(call_kind::claim, 0, 1900, 1000, next);
    CHECK(back.series == 1000);
    CHECK(back.refused == 900);
    gates.both().compare();
}

TEST_CASE("a group that gets a budget of its own admits no new series before all have had time to come back") {
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 30min;
    shared_budget of_group{.id = 5,
                           .limit = 1,
                           .maxima = {.hourly = 1000},
                           .sharing = 2,
                           .overflow_id = 4,
                           .group_set = 3,
                           .groups_max = 0,
                           .overflow_maxima = {.hourly = 5000}};
    CHECK(gates.send(call_kind::claim, 0, 800, of_group, now).series == 800);  // in the overflow budget
    of_group.sharing = 9;
    SECTION("by an override") {
        of_group.group_set = 0;
    }
    SECTION("because there may be more groups") {
        of_group.groups_max = 9;
        CHECK(gates.send(call_kind::claim, 5000, 100, of_group, now).series == 100);
    }
    const auto next = few_gates::begin_of(hour + 1);
    CHECK(gates.send(call_kind::claim, 6000, 1000, of_group, next + 1min).refused == 1000);
    CHECK(gates.send(call_kind::claim, 0, 800, of_group, next + 2min).series == 800);
    gates.beat("a", next + 11min, true);
    CHECK(gates.send(call_kind::claim, 6000, 1000, of_group, next + 12min).series == 200);
    gates.both().compare();
}

TEST_CASE("a rolling restart leaves room when the grace ends, a gate that vanishes holds places until the hour ends") {
    const bool vanishes = GENERATE(false, true);
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 10min;
    gates.send(call_kind::claim, 0, 900, 1000, now);
    for (const char* gate : {"a", "b", "c"}) gates.beat(gate, now, false);
    const auto next = few_gates::begin_of(hour + 1);
    CHECK(gates.send(call_kind::claim, 5000, 200, 1000, next + 1min).series == 100);
    gates.beat("c", next + 2min, false, !vanishes);
    for (const char* gate : {"a", "b"}) gates.beat(gate, next + 3min, false);
    CHECK(gates.beat("a", next + 5min, true).windows.keeps_places);
    gates.beat("b", next + 11min, true);
    CHECK(gates.beat("a", next + 11min, true).windows.keeps_places == vanishes);
    CHECK(gates.send(call_kind::claim, 6000, 100, 1000, next + 12min).series == (vanishes ? 0 : 100));
    CHECK(gates.send(call_kind::pass, 0, 900, 1000, next + 12min).series == 900);  // nobody asks what has passed
    gates.both().compare();
}

TEST_CASE("a gate that has vanished is named for two hours at most, whether anything is counted or not") {
    few_gates gates;
    const auto noon = few_gates::begin_of(hour);
    SECTION("at first") {
        gates.send(call_kind::claim, 0, 100, 1000, noon + 10min);
    }
    SECTION("or ever") {}
    gates.beat("a", noon + 20min, false);
    CHECK(gates.names("a", noon + 1h + 59min));
    CHECK_FALSE(gates.names("a", noon + 2h));
    CHECK(gates.names("b", noon + 5h));
    gates.both().compare();
}

TEST_CASE("a gate that leaves amid a refill holds no places, although the others still name it") {
    const bool knows_of_the_loss = GENERATE(true, false);
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 10min;
    gates.send(call_kind::claim, 0, 900, 1000, now);
    for (const char* gate : {"a", "b"}) gates.beat(gate, now, false);
    const auto next = few_gates::begin_of(hour + 1);
    gates.send(call_kind::pass, 0, 900, 1000, next + 1min);
    const auto known = gates.heard_of();
    const auto lost = next + 11min;
    const std::string before = gates.restart_store();
    gates.beat("b", lost, true);
    if (!knows_of_the_loss) {
        const std::string epoch = gates.knows(before);
        gates.beat("a", lost, true, true);
        CHECK(gates.names("a", lost));  // it has to tell first
        gates.knows(epoch);
    }
    gates.beat("a", lost, true, true);
    CHECK_FALSE(gates.names("a", lost));
    for (auto at = lost + 1s; at < lost + 4s; at += 1s) CHECK_FALSE(gates.names("a", at, known));
    CHECK_FALSE(gates.beat("b", lost + 4s, true).windows.keeps_places);
    gates.both().compare();
}

TEST_CASE("places that had lapsed stay so after a loss of data, although a gate has vanished with it") {
    const bool has_heard = GENERATE(true, false);  // that they have
    few_gates gates;
    const auto lost = few_gates::begin_of(hour) + 20min;
    gates.both().empty();
    gates.beat("a", lost, true, false, 1);
    const shared_budget budget{.id = 1, .limit = 1, .maxima = {.hourly = 1000}};
    gates.send(call_kind::refill, 5000, 1000, budget, lost);
    gates.send(call_kind::refill, 0, 900, budget, lost, {.before = true});
    static_cast<void>(gates.names("vanished", lost, {{.name = "vanished", .hour = hour}}));
    for (auto at = lost; at < lost + 8s; at += 1s) gates.beat("a", at, true, false, {}, has_heard);
    CHECK(gates.beat("a", lost + 8s, true, false, {}, has_heard).windows.keeps_places != has_heard);
    CHECK(gates.send(call_kind::claim, 0, 900, 1000, lost + 9s).series == (has_heard ? 0 : 900));
    gates.both().compare();
}

TEST_CASE("places that have lapsed in another store are kept, until the gate that says so has heard of this one") {
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 30min;
    gates.send(call_kind::claim, 0, 900, 1000, now);
    const auto next = few_gates::begin_of(hour + 1) + 1min;
    gates.send(call_kind::pass, 0, 100, 1000, next);
    const std::string epoch = gates.knows("another");
    CHECK(gates.beat("b", next + 11min, true, false, {}, true).windows.keeps_places);
    gates.knows(epoch);
    CHECK_FALSE(gates.beat("b", next + 12min, true, false, {}, true).windows.keeps_places);
    gates.both().compare();
}

TEST_CASE("a refill is not ended by a leap of the store's clock, nor prolonged for ever by rare heartbeats") {
    shared_store_and_model both;
    std::string epoch;
    time_point now = few_gates::begin_of(hour) + 30min;
    const auto is_refilling_after = [&](std::chrono::seconds passed, std::optional<std::uint64_t> refilled) {
        now += passed;
        heartbeat said{.gate = "a", .fingerprints = "f", .version = "1", .clock = now, .epoch = epoch, .grace = 600s};
        said.refilled = refilled;
        const heartbeat_answer answer = both.beat(said, "s", now);
        epoch = answer.state.epoch;
        return answer.state.is_refilling;
    };
    for (const auto leap : {0s, 90s, 1800s, -1800s}) {
        epoch.clear();
        both.empty();
        CHECK(is_refilling_after(0s, 0));
        CHECK(is_refilling_after(1s, 1));
        CHECK(is_refilling_after(leap + 1s, 1));
        CHECK(is_refilling_after(1s, 2));
        CHECK(is_refilling_after(4s, 2));
        CHECK_FALSE(is_refilling_after(1s, {}));
    }
    epoch.clear();
    both.empty();
    CHECK(is_refilling_after(0s, 0));
    const std::string begun = epoch;
    for (int beat = 0; beat < 100; ++beat) {
        epoch = "another";  // who does not believe the clock does not take the epoch over
        CHECK(is_refilling_after(1s, {}));
    }
    epoch = begun;
    CHECK(is_refilling_after(1s, 1));
    CHECK_FALSE(is_refilling_after(1s, {}));

    epoch.clear();
    both.empty();
    for (std::uint64_t beat = 0; beat < 300; ++beat) CHECK(is_refilling_after(20s, beat));
    CHECK_FALSE(is_refilling_after(20s, 300));
    both.compare();
}

TEST_CASE("new series wait for a gate that goes on telling, for ten minutes at most") {
    few_gates gates;
    const auto lost = few_gates::begin_of(hour) + 3min;
    gates.both().empty();
    for (auto passed = 0s; passed <= 600s; passed += 1s) {
        const auto progress = static_cast<std::uint64_t>(passed.count());
        const bool is_refilling = gates.beat("a", lost + passed, false, false, progress).is_refilling;
        CHECK(is_refilling == (passed < 600s));
        gates.beat("b", lost + passed, false);
        if (passed % 100s != 70s) continue;
        const auto asked = gates.send(call_kind::claim, 5000, 100, 1000, lost + passed);
        CHECK(asked.series + asked.refused == 0);
    }
    CHECK(gates.send(call_kind::claim, 5000, 100, 1000, lost + 601s).series == 100);
    gates.both().compare();
}

TEST_CASE("a store without memory takes nothing, and counts nothing") {
    few_gates gates;
    const auto now = few_gates::begin_of(hour) + 10min;
    gates.send(call_kind::claim, 0, 200, 1000, now);
    store_connection& connection = gates.both().store().connection();
    connection.ask({"CONFIG", "SET", "maxmemory", "1"});
    for (const call_kind kind : {call_kind::claim, call_kind::pass, call_kind::refill}) {
        shared_store& store = gates.both().store();
        store_call asked{.kind = kind, .runs = {{.series = 1, .budgets = {0}}}};
        asked.fingerprints = {fingerprint_of(7000)};
        asked.budgets.push_back({.id = 1, .limit = 1, .maxima = {.hourly = 1000}});
        const gate_terms terms{.gate = "a",
                               .clock = now,
                               .epoch = *gates.both().model().epoch(),
                               .hour = hour,
                               .buckets = {.hour = gates.both().model().hour().buckets},
                               .limits = {1}};
        store.send(asked, terms, "s");
        CHECK_THROWS_WITH(store.receive(asked), Catch::Matchers::Matches(".*OOM.*"));
    }
    connection.ask({"CONFIG", "SET", "maxmemory", "0"});
    gates.both().compare();
}

TEST_CASE("what a gate tells again while the store is whole stands in the feed") {
    few_gates gates;  // its refill has ended
    const auto now = few_gates::begin_of(hour) + 10min;
    gates.send(call_kind::claim, 0, 100, 1000, now);
    const std::size_t fed = gates.both().model().feed().size();
    gates.send(call_kind::refill, 50, 100, 1000, now);
    REQUIRE(gates.both().model().feed().size() == fed + 1);
    CHECK(gates.both().model().feed().back().runs[0].fingerprints.size() == 50);
    CHECK(gates.beat("a", now, false).fed == 150);
    gates.both().compare();
}
