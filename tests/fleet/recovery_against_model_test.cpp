// recover.lua in a real store against the model: what was lost comes back, and nothing is decided before.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fleet/heard_counts.hpp"
#include "fleet/random_gates.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace {

/// A store and its model, which lose the same, and three gates that have heard of them.
class losing_scene {
    random_numbers random_;
    random_gates gates_;
    claim_store store_;
    store_model model_;
    std::array<heard_counts, 3> heard_{};
    store_windows told_;
    std::string server_;
    std::string in_;  // the recovery that a gate has heard of last
    int servers_ = 0;
    std::pair<claim_store::copy, store_model> copy_;

  public:
    std::map<std::string, int> happened;

    explicit losing_scene(scene of) : random_(of.seed), gates_(of), copy_(store_.copied(), model_) {}

    void claim_once() {
        const time_point now = gates_.next_moment();
        claim_terms terms = gates_.next_terms(told_);
        terms.server = server_;
        const claim asked = gates_.next_claim();
        const claim_answer wanted = model_.decide(asked, terms, now);
        compare(store_.decide(asked, terms, now), wanted);
        REQUIRE(wanted.status != claim_status::lost);
        told_ = wanted.windows;
        if (wanted.status != claim_status::decided) return;
        heard_[random_.below(heard_.size())].hear(asked, terms, wanted);
        for (std::size_t i = 0; i < asked.budgets.size(); ++i) {
            const bool shares = wanted.budgets[i].shares;
            const series_maxima maxima = shares ? asked.budgets[i].overflow_maxima : asked.budgets[i].maxima;
            if (maxima.hourly != 0) REQUIRE(wanted.budgets[i].hourly <= maxima.hourly);
            if (maxima.daily != 0) REQUIRE(wanted.budgets[i].daily <= maxima.daily);
        }
    }

    void copy() { copy_ = {store_.copied(), model_}; }
    void compare_everything() { compare_all(store_, model_); }

    void lose() {
        const store_model before = model_;
        if (random_.one_in(3)) {
            ++happened["emptied"];
            store_.connection().ask({"FLUSHALL"});
            model_ = store_model::emptied();
        } else {
            ++happened["went back"];
            store_.go_back_to(copy_.first);
            model_ = copy_.second;
            server_ = "server-" + std::to_string(++servers_);
        }
        is_lost();
        recover();
        for (const auto& [id, count] : before.hour().counted)
            if (before.hour_number() == model_.hour_number()) REQUIRE(model_.hour().count(id) >= count);
        if (before.day() && model_.day() && before.hour_number() / 24 == model_.hour_number() / 24)
            for (const auto& [id, count] : before.day()->counted) REQUIRE(model_.day()->count(id) >= count);
        compare_everything();
        copy();
    }

  private:
    void is_lost() {
        claim_terms terms = gates_.next_terms(told_);
        terms.server = server_;
        const time_point now = gates_.moment_after(std::chrono::seconds{0});
        const claim asked = gates_.next_claim();
        const claim_answer got = store_.decide(asked, terms, now);
        REQUIRE(got.status == claim_status::lost);
        REQUIRE(model_.decide(asked, terms, now).status == claim_status::lost);
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
        const std::size_t piece_size = 1 + random_.below(8);
        bool is_whole = false;
        for (std::size_t at = 0; at == 0 || at < all.budgets.size(); at += piece_size) {
            const auto piece = std::span{all.budgets}.subspan(at, std::min(piece_size, all.budgets.size() - at));
            said.in = in_;
            said.waited = std::chrono::milliseconds{random_.below(7'000)};
            said.is_last = at + piece_size >= all.budgets.size();
            const time_point now = gates_.moment_after(std::chrono::seconds{random_.below(2)});
            const recovery_answer wanted = model_.recover(said, all, piece, server_, now);
            REQUIRE(store_.recover(said, all, piece, server_, now) == wanted);
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
}
