// recover.lua in a real store against the model: what was lost comes back, and nothing is decided before.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fleet/heard_counts.hpp"
#include "fleet/random_gates.hpp"
#include "fleet/store_and_model.hpp"
#include "support/catch.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// A store and its model, which lose the same, and three gates that have heard of them.
class losing_scene {
    random_numbers random_;
    random_gates gates_;
    store_and_model both_;
    std::array<heard_counts, 3> heard_{};
    std::string server_;
    untold_series_of untold_;
    std::string in_;  // the recovery that a gate has heard of last
    int servers_ = 0;
    store_and_model::copy copy_;

  public:
    std::map<std::string, int> happened;

    explicit losing_scene(scene of) : random_(of.seed), gates_(of), copy_(both_.copied()) {}

    void claim_once() {
        const time_point now = gates_.next_moment();
        const claim_terms terms = next_terms();
        tell_once(terms, now);
        const claim asked = gates_.next_claim();
        const claim_answer wanted = both_.decide(asked, terms, now);
        if (wanted.status == claim_status::lost) {
            REQUIRE_FALSE(terms.accepted);
            ++happened["held"];
        }
        if (wanted.status != claim_status::decided) return;
        if (awaits(terms.hour)) ++happened["told"];
        heard_[random_.below(heard_.size())].hear(asked, terms, wanted);
        for (std::size_t i = 0; i < asked.budgets.size(); ++i) {
            const bool shares = wanted.budgets[i].shares;
            const series_maxima maxima = shares ? asked.budgets[i].overflow_maxima : asked.budgets[i].maxima;
            if (maxima.hourly != 0) REQUIRE(wanted.budgets[i].hourly <= maxima.hourly);
            if (maxima.daily != 0) REQUIRE(wanted.budgets[i].daily <= maxima.daily);
        }
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

  private:
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
    losing_scene scene{{.seed = seed, .with_day = with_day}};
    for (int step = 0; step < 900; ++step) {
        CAPTURE(step);
        scene.claim_once();
        if (step % 45 == 20) scene.copy();
        if (step % 45 == 44) scene.lose();
    }
    CHECK(scene.happened["emptied"] > 0);
    CHECK(scene.happened["went back"] > 0);
    CHECK(scene.happened["held"] > 0);
    CHECK(scene.happened["told"] > 0);
    CHECK(scene.happened["must wait"] > 0);
}
