// recover.lua in a real store against the model: what was lost comes back, and nothing is decided before.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "fleet/heard_counts.hpp"
#include "fleet/random_gates.hpp"
#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t lossy_hour = first_hour + 30;  // in the middle of a day

/// A store and its model, which lose the same, and three gates that have heard of them.
class losing_scene {
    const bool is_exact_;  // no limit is ever exceeded
    random_numbers random_;
    random_gates gates_;
    store_and_model both_;
    std::array<heard_counts, 3> heard_{};
    std::string server_;
    untold_series_of untold_;
    std::string in_;  // the recovery that a gate has heard of last
    int servers_ = 0;
    store_and_model::copy copy_;
    std::int64_t carried_day_ = -1;  // with counts of what was untold in its first hour

  public:
    std::map<std::string, int> happened;

    explicit losing_scene(scene of)
        : is_exact_(of.steady && !of.histograms), random_(of.seed), gates_(of), copy_(both_.copied()) {}

    void run() {
        for (int step = 0; step < 900; ++step) {
            CAPTURE(step);
            claim_once();
            if (step % 45 == 20) copy();
            if (step % 45 == 44) lose();
        }
    }

  private:
    void claim_once() {
        const time_point now = gates_.next_moment();
        const claim_terms terms = next_terms();
        tell_once(terms, now);
        const claim asked = gates_.next_claim();
        const claim_answer wanted = both_.decide(asked, terms, now);
        if (wanted.status == claim_status::lost) {
            REQUIRE((!terms.accepted || terms.owed));
            ++happened["held"];
        }
        if (wanted.status != claim_status::decided) return;
        if (awaits(terms.hour)) ++happened["told"];
        heard_[random_.below(heard_.size())].hear(asked, terms, wanted);
        if (random_.one_in(3)) heard_[random_.below(heard_.size())].hear_counted(terms.hour, fed_of(asked, wanted), {});
        // What was untold when a day's first hour ended is counted again where nobody remembers that it is.
        const std::int64_t day = day_of_hour(terms.hour);
        if (both_.model().day() && !both_.model().day()->carried.empty()) carried_day_ = day;
        for (std::size_t i = 0; is_exact_ && i < asked.budgets.size(); ++i) {
            const bool shares = wanted.budgets[i].shares;
            const series_maxima maxima = shares ? asked.budgets[i].overflow_maxima : asked.budgets[i].maxima;
            if (maxima.hourly != 0) REQUIRE(wanted.budgets[i].hourly <= maxima.hourly);
            if (maxima.daily != 0 && day != carried_day_) REQUIRE(wanted.budgets[i].daily <= maxima.daily);
        }
    }

    /// What the feed says of a claim to the gates that have not made it.
    static std::vector<fed_count> fed_of(const claim& asked, const claim_answer& said) {
        std::vector<fed_count> made;
        for (std::size_t i = 0; i < said.budgets.size(); ++i)
            if (said.budgets[i].hourly != 0)
                made.push_back({.id = said.budgets[i].shares ? asked.budgets[i].overflow_id : asked.budgets[i].id,
                                .series = said.budgets[i].hourly});
        return made;
    }

    void copy() { copy_ = both_.copied(); }

    void lose() {
        const store_model before = both_.model();
        if (random_.one_in(3)) {
            ++happened["emptied"];
            both_.empty();
        } else {
            ++happened["went back"];
            both_.go_back_to(copy_);
            server_ = "server-" + std::to_string(++servers_);
        }
        is_lost();
        recover();
        const store_model& model = both_.model();
        for (const auto& [id, count] : before.hour().counted)
            if (before.hour_number() == model.hour_number()) REQUIRE(model.hour().count(id) >= count);
        if (before.day() && model.day() && before.hour_number() / 24 == model.hour_number() / 24)
            for (const auto& [id, count] : before.day()->counted) REQUIRE(model.day()->count(id) >= count);
        both_.compare();
        copy();
    }

    [[nodiscard]] bool awaits(std::int64_t hour) const { return !untold_.name.empty() && untold_.hour == hour; }

    claim_terms next_terms() {
        claim_terms terms = gates_.next_terms(both_.told());
        terms.server = server_;
        terms.accepted = random_.one_in(3);
        return terms;
    }

    /// The list of gates that tell later: some enter it, and at some time who is waited for has told.
    void tell_once(const claim_terms& terms, time_point now) {
        if (random_.one_in(8)) {
            const telling_state came_of_it = both_.enter("gate-1/1", terms, now);
            if (came_of_it == telling_state::listed) ++happened["listed"];
            if (came_of_it == telling_state::must_wait) ++happened["must wait"];
        }
        if (random_.one_in(8)) both_.leave("gate-1/1", terms);
        if (awaits(terms.hour) && random_.one_in(8)) {
            both_.leave(untold_.name, terms);
            untold_ = {};
        }
    }

    void is_lost() {
        const claim_terms terms = next_terms();
        const time_point now = gates_.moment_after(std::chrono::seconds{0});
        REQUIRE(both_.decide(gates_.next_claim(), terms, now).status == claim_status::lost);
        REQUIRE(both_.enter("gate-0", terms, now) == telling_state::not_open);
        untold_ = {.name = random_.one_in(2) ? "gate-0/1" : "", .hour = gates_.hour()};
    }

    void recover() {
        const std::size_t first = random_.below(heard_.size());
        for (std::size_t turn = 0;; ++turn) {
            REQUIRE(turn < 60);
            if (offer((first + turn) % heard_.size()) && turn >= heard_.size()) return;
        }
    }

    /// All that one gate has heard, in some pieces.
    bool offer(std::size_t gate) {
        const count_offer all = heard_[gate].grown_since(0);
        recovery_words said{.gate = "gate-" + std::to_string(gate), .others = {"gate-0", "gate-2"}};
        if (gate == 0) said.untold = untold_;
        const std::size_t piece_size = 1 + random_.below(8);
        bool is_whole = false;
        for (std::size_t at = 0; at == 0 || at < all.budgets.size(); at += piece_size) {
            const auto piece = std::span{all.budgets}.subspan(at, std::min(piece_size, all.budgets.size() - at));
            said.in = in_;
            said.waited = std::chrono::milliseconds{random_.below(7'000)};
            said.is_last = at + piece_size >= all.budgets.size();
            const time_point now = gates_.moment_after(std::chrono::seconds{random_.below(2)});
            const recovery_answer wanted = both_.recover(said, all, piece, server_, now);
            is_whole = wanted.is_whole;
            in_ = random_.one_in(4) ? "" : wanted.since;
        }
        return is_whole;
    }
};

}  // namespace

TEST_CASE("the script makes counts whole again as the model does, and never less than gates have heard") {
    const bool with_day = GENERATE(true, false);
    const std::uint64_t seed = GENERATE(11u, 12u, 13u);
    CAPTURE(seed, with_day);
    const bool places_for_all = GENERATE(true, false);
    losing_scene scene{{.seed = seed, .with_day = with_day, .places_for_all = places_for_all}};
    scene.run();
    CHECK(scene.happened["emptied"] > 0);
    CHECK(scene.happened["went back"] > 0);
    CHECK(scene.happened["held"] > 0);
    CHECK(scene.happened["told"] > 0);
    CHECK(scene.happened["must wait"] > 0);
}

TEST_CASE("so it does where gates change their limits, leave shares alone and complete histograms") {
    const bool with_day = GENERATE(true, false);
    losing_scene scene{{.seed = 11, .with_day = with_day, .steady = false, .reserve = 5000, .histograms = true}};
    scene.run();
    CHECK(scene.happened["held"] > 0);
    CHECK(scene.happened["told"] > 0);
}

TEST_CASE("after a loss nobody else is answered before what was accepted at once has been told, and then all are") {
    const auto at = [](std::chrono::seconds in_hour, std::int64_t of = lossy_hour) {
        return time_point{std::chrono::hours{of} + in_hour};
    };
    const auto claim_of = [](std::vector<std::uint64_t> series) {
        const auto count = static_cast<std::uint32_t>(series.size());
        return claim{.fingerprints = std::move(series),
                     .runs = {{.series = count, .budgets = {0}}},
                     .budgets = {{.id = 5, .maxima = {.hourly = 6, .daily = 8}}}};
    };
    const claim_terms before{.hour = lossy_hour - 1, .rules = 1, .all_rules = 2, .grace = 600, .with_day = true};
    const claim_terms terms{.hour = lossy_hour, .rules = 1, .all_rules = 2, .grace = 600, .with_day = true};
    claim_terms accepted = terms;
    accepted.accepted = true;
    const auto count_of = [](const claim_answer& answer) { return answer.budgets.at(0); };
    store_and_model both;
    heard_counts heard;
    const auto ask = [&](std::vector<std::uint64_t> series, const claim_terms& by, time_point now) {
        const claim asked = claim_of(std::move(series));
        const claim_answer answer = both.ask(asked, by, now);
        if (answer.status == claim_status::decided) heard.hear(asked, by, answer);
        return answer;
    };

    // Six in the hour before; in the hour one of them has been told of, five are untold at two gates.
    ask({1, 2, 3, 4, 5, 6}, before, at(10min, lossy_hour - 1));
    ask({1}, terms, at(1s));
    REQUIRE(both.enter("one", terms, at(1s)) == telling_state::listed);
    REQUIRE(both.enter("other", terms, at(1s)) == telling_state::listed);
    both.empty();
    CHECK(ask({11}, terms, at(2s)).status == claim_status::lost);

    const count_offer offer = heard.grown_since(0);
    recovery_words said{.gate = "one", .is_last = true, .untold = {.name = "one", .hour = lossy_hour}};
    said.in = both.recover(said, offer, offer.budgets, "", at(3s)).since;
    said.gate = said.untold.name = "other";
    both.recover(said, offer, offer.budgets, "", at(4s));
    said.waited = 2s;
    REQUIRE(both.recover(said, offer, offer.budgets, "", at(5s)).is_whole);

    CHECK(both.enter("third", terms, at(6s)) == telling_state::must_wait);
    CHECK(ask({11}, terms, at(6s)).status == claim_status::lost);
    CHECK(count_of(ask({2, 3, 4}, accepted, at(7s))) == budget_answer{.hourly = 4, .daily = 6});
    both.leave("one", terms);
    CHECK(ask({11}, terms, at(8s)).status == claim_status::lost);
    CHECK(count_of(ask({5, 6}, accepted, at(9s))) == budget_answer{.hourly = 6, .daily = 6});
    both.leave("other", terms);
    const claim_answer then = ask({2, 11}, terms, at(10s));
    REQUIRE(then.status == claim_status::decided);
    CHECK(then.series.at(0).outcome == claim_outcome::known);
    CHECK(then.series.at(1).outcome == claim_outcome::refused);

    // The hour was not whole, so incumbents of the next one wait; those of the one after it need not.
    claim_terms next = terms, last = terms;
    next.hour = lossy_hour + 1;
    last.hour = lossy_hour + 2;
    ask({2}, next, at(1s, lossy_hour + 1));
    CHECK(both.enter("one", next, at(2s, lossy_hour + 1)) == telling_state::must_wait);
    ask({2}, last, at(1s, lossy_hour + 2));
    CHECK(both.enter("one", last, at(2s, lossy_hour + 2)) == telling_state::listed);
    both.compare();
}

TEST_CASE("after a loss a day begins with the first claim that is decided") {
    store_and_model both;
    const time_point now{std::chrono::hours{lossy_hour}};
    both.recover({.gate = "one", .is_last = true, .untold = {.name = "one", .hour = lossy_hour}}, {}, {}, "", now);
    const claim asked{.fingerprints = {1}, .runs = {{.series = 1}}};
    claim_terms terms{.hour = lossy_hour, .with_day = true, .room = 1, .day_room = 1};
    const claim_answer early = both.ask(asked, terms, now);
    CHECK(early.status == claim_status::lost);
    CHECK(early.windows.buckets == bucket_counts{.hour = 1});
    terms.accepted = true;
    CHECK(both.ask(asked, terms, now).windows.buckets == bucket_counts{.hour = 1, .day = 1});
    both.compare();
}

TEST_CASE("what gates tell of windows that are long over stays for ever nowhere") {
    const auto days = GENERATE(0, 1, 3);  // ago
    CAPTURE(days);
    claim_store store;
    store_connection& connection = store.connection();
    const auto clock = std::chrono::floor<std::chrono::hours>(std::chrono::system_clock::now()).time_since_epoch();
    const std::int64_t hour = clock.count() - 24 * days - 4;
    heard_counts heard;
    heard.count_by({.rules = 1, .with_day = true});
    const std::vector<fed_count> counts{{.id = 7, .series = 3}};
    heard.hear_counted(hour, counts, counts);
    const count_offer all = heard.grown_since(0);
    recovery_words said{.gate = "one", .is_last = true};
    said.in = store.recover(said, all, all.budgets, "server", time_point{clock}).since;
    said.waited = std::chrono::seconds{6};
    CHECK(store.recover(said, all, all.budgets, "server", time_point{clock}).is_whole);
    CHECK(connection.text({"HGET", store.keys().head(), "server"}) == "server");
    for (const std::string& key : connection.texts({"KEYS", "sg:*"})) {
        CAPTURE(key);
        CHECK(connection.number({"TTL", key}) > 0);
    }
}

TEST_CASE("a group has its place again whoever tells of it first: a gate that has read of it, or one that has asked") {
    const bool with_day = GENERATE(true, false);
    const bool reader_first = GENERATE(true, false);
    const bool reads_of_day = GENERATE(true, false);  // or of counts of the hour alone: those of the day did not grow
    CAPTURE(with_day, reader_first, reads_of_day);
    const time_point now{std::chrono::hours{lossy_hour} + 10min};
    const claim_terms terms{.hour = lossy_hour, .rules = 1, .all_rules = 2, .grace = 1, .with_day = with_day};
    const auto claim_of = [](std::uint64_t group, std::uint64_t series) {
        return claim{.fingerprints = {series},
                     .runs = {{.series = 1, .budgets = {0}}},
                     .budgets = {{.id = group,
                                  .maxima = {.hourly = 9, .daily = 9},
                                  .limit_budgets = 7,
                                  .places_max = 2,
                                  .overflow_id = 99,
                                  .overflow_maxima = {.hourly = 9, .daily = 9}}}};
    };
    store_and_model both;
    heard_counts asker;
    heard_counts reader;
    reader.count_by(terms);
    for (const std::uint64_t group : {1u, 2u}) {
        const claim asked = claim_of(group, group);
        const claim_answer said = both.ask(asked, terms, now);
        REQUIRE(said.status == claim_status::decided);
        asker.hear(asked, terms, said);
        const std::vector<fed_count> read{{.id = group, .series = 1}};
        reader.hear_counted(lossy_hour, read, with_day && reads_of_day ? read : std::vector<fed_count>{});
    }
    both.empty();

    recovery_words said{.gate = {}, .is_last = true};
    const auto tell = [&](std::string gate, const heard_counts& heard) {
        const count_offer all = heard.grown_since(0);
        said.gate = std::move(gate);
        const recovery_answer answer = both.recover(said, all, all.budgets, "", now);
        said.in = answer.since;
        return answer.is_whole;
    };
    tell(reader_first ? "reader" : "asker", reader_first ? reader : asker);
    tell(reader_first ? "asker" : "reader", reader_first ? asker : reader);
    said.waited = 6s;
    REQUIRE(tell("asker", asker));
    const claim_answer third = both.ask(claim_of(3, 3), terms, now);
    REQUIRE(third.status == claim_status::decided);
    CHECK(third.budgets.at(0).shares);
    both.compare();
}
