// Gates that hear their store, and gates that do not, at random: no limit is exceeded, whoever takes what.
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "claim/shares.hpp"
#include "fleet/store_model.hpp"
#include "support/catch.hpp"
#include "support/fingerprints.hpp"
#include "support/sanitizers.hpp"

using namespace seriesgate;
using namespace seriesgate::testing;

namespace shares_of_fleet_test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t whole = 1;
constexpr reserve_parts reserve = 5'000;
// Half of them is left to shares: 2 of the hour to each of sixteen gates, and 3 or 20 of the day.
constexpr series_maxima by_both{.hourly = 66, .daily = 110}, by_hour{.hourly = 66, .daily = 640};
static_assert(share_of(by_both.hourly, reserve) == 2 && share_of(by_both.daily, reserve) == 3);
static_assert(share_of(by_hour.daily, reserve) == 20);

/// What one run of a gate knows.
struct simulated_gate {
    std::string name;
    bool hears = true;
    std::int64_t hour = -1;         // by the store's clock, as it was heard last
    bool at_once = false;           // the store keeps its incumbents' places
    bool leaves = false;            // none is accepted at once any more in this hour
    std::set<std::uint64_t> known;  // of that hour
    std::set<std::uint64_t> before;
    std::set<std::uint64_t> untold;
    std::set<std::uint64_t> owed;
    std::unique_ptr<shares> own = std::make_unique<shares>(reserve, 1000);
    std::map<std::int64_t, std::uint64_t> taken{};  // out of shares, by hour

    explicit simulated_gate(std::uint64_t number) : name("run-" + std::to_string(number)) {}

    void begin(std::int64_t now) {
        if (now == hour) return;
        before = now == hour + 1 ? known : std::set<std::uint64_t>{};
        hour = now;
        at_once = leaves = false;
        known.clear();
        untold.clear();
        owed.clear();
    }
};

class world {
    const series_maxima maxima_;
    const bool has_histograms_;  // that are kept whole: of four series each, half of all
    random_numbers random_;
    bool is_away_ = false;  // the store, from all gates
    store_model store_;
    bucket_counts buckets_;
    std::vector<simulated_gate> gates_;
    std::uint64_t runs_ = 0;
    std::chrono::seconds now_{std::chrono::hours{24 * 1000 + 20}};
    std::map<std::int64_t, std::map<std::string, share_state>> granted_;  // by hour
    std::map<std::int64_t, std::set<std::uint64_t>> through_;             // series by hour, upstream
    std::map<std::int64_t, std::uint64_t> completed_, completed_daily_;   // by hour and by day

  public:
    std::map<std::string, int> happened;

    world(std::uint64_t seed, const series_maxima& limit, bool has_histograms = false)
        : maxima_(limit), has_histograms_(has_histograms), random_(seed) {
        for (int i = 0; i < 16; ++i) gates_.emplace_back(++runs_);
    }

    void step() {
        // Where gates keep their series, and often hear the store, most incumbents pass at once.
        now_ += std::chrono::seconds{random_.below(has_histograms_ && in_grace(hour()) ? 4 : 16)};
        const std::uint64_t series = random_.below(130);
        simulated_gate& gate = gates_[has_histograms_ ? series % gates_.size() : random_.below(gates_.size())];
        if (random_.one_in(has_histograms_ ? 1500 : 60)) gate.hears = !gate.hears;
        if (random_.one_in(has_histograms_ ? 2500 : 100)) is_away_ = !is_away_;
        if (random_.one_in(3000)) gate = simulated_gate{++runs_};
        if (hears(gate)) keep_up(gate);
        if (gate.hour >= 0) offer(gate, series);
        check();
    }

  private:
    [[nodiscard]] bool hears(const simulated_gate& gate) const { return gate.hears && !is_away_; }
    [[nodiscard]] std::int64_t hour() const { return std::chrono::floor<std::chrono::hours>(now_).count(); }
    [[nodiscard]] bool in_grace(std::int64_t of) const { return now_ < std::chrono::hours{of} + 600s; }

    [[nodiscard]] claim_terms terms(const simulated_gate& gate) const {
        return {.hour = gate.hour, .grace = 600, .with_day = true, .reserve = reserve, .buckets = buckets_};
    }

    claim_outcome claim_one(simulated_gate& gate, std::uint64_t series, claim_terms as) {
        claim asked{.fingerprints = {fingerprint_of(series)},
                    .runs = {{.series = 1, .budgets = {0}}},
                    .budgets = {{.id = whole, .maxima = maxima_}}};
        // In most hours nothing is completed: what was in the hour before the last must not show any more.
        if (has_histograms_ && gate.hour % 3 == 0)
            asked.families = {series % 2 == 0 ? 0 : fingerprint_of(1'000 + series / 8)};
        for (;;) {
            const claim_answer answer = store_.decide(asked, as, time_point{now_});
            as.buckets = buckets_ = answer.windows.buckets;
            if (answer.status == claim_status::moved) continue;
            REQUIRE(answer.status == claim_status::decided);
            const claim_outcome outcome = answer.series.front().outcome;
            completed_[gate.hour] += answer.series.front().completed.hour;
            completed_daily_[gate.hour / 24] += answer.series.front().completed.day;
            if (outcome != claim_outcome::refused) gate.known.insert(series);
            return outcome;
        }
    }

    /// What a gate does while it hears the store.
    void keep_up(simulated_gate& gate) {
        gate.begin(hour());
        if (store_.hour_number() == gate.hour) {
            const share_state state = store_.share(gate.name, terms(gate)).first;
            gate.own->grant(gate.hour, state);
            auto& granted = granted_[gate.hour][gate.name];
            granted = std::max(granted, state);
        }
        if (in_grace(gate.hour) && !gate.leaves && !gate.at_once)
            gate.at_once = store_.enter(gate.name, terms(gate), time_point{now_}) == telling_state::listed;
        if (gate.at_once) ++happened["at once"];
        if (random_.one_in(2)) tell(gate);
        if (!in_grace(gate.hour)) gate.leaves = true, gate.at_once = false;
        if (gate.leaves && gate.untold.empty()) store_.leave(gate.name, terms(gate));
    }

    void tell(simulated_gate& gate) {
        claim_terms accepted = terms(gate);
        accepted.accepted = true;
        for (const std::uint64_t series : gate.untold) {
            const claim_outcome outcome = claim_one(gate, series, accepted);
            if (!has_histograms_) CHECK(outcome != claim_outcome::refused);
            ++happened["told"];
        }
        gate.untold.clear();
        claim_terms owed = terms(gate);
        owed.owed = true;
        for (const std::uint64_t series : gate.owed) {
            if (claim_one(gate, series, owed) == claim_outcome::taken) ++happened["owed"];
            const offered_series told{.fingerprint = fingerprint_of(series)};
            gate.own->settle(gate.hour, {&told, 1});
        }
        gate.owed.clear();
    }

    /// A request with one series.
    void offer(simulated_gate& gate, std::uint64_t series) {
        if (decide(gate, series)) through_[gate.hour].insert(series);
    }

    bool decide(simulated_gate& gate, std::uint64_t series) {
        if (gate.known.contains(series) || gate.untold.contains(series)) return true;
        if (gate.at_once && gate.before.contains(series)) return gate.untold.insert(series).second;
        if (gate.own->owes(fingerprint_of(series), gate.hour)) return true;
        if (hears(gate)) {
            const claim_outcome outcome = claim_one(gate, series, terms(gate));
            ++happened[outcome == claim_outcome::refused ? "refused" : "taken"];
            return outcome != claim_outcome::refused;
        }
        const share_charge charge{.id = whole, .maxima = maxima_};
        if (gate.own->take(fingerprint_of(series), {&charge, 1}, gate.hour) == shares::entry::refused) {
            ++happened["no share"];
            return false;
        }
        ++happened["shared out"];
        ++gate.taken[gate.hour];
        gate.owed.insert(series);
        return true;
    }

    /// What completed histograms in a window, and what did in the one before, which may pass at once.
    static std::uint64_t over(const std::map<std::int64_t, std::uint64_t>& completed, std::int64_t window) {
        const auto in = [&](std::int64_t of) { return completed.contains(of) ? completed.at(of) : 0; };
        return in(window) + in(window - 1);
    }

    void check() const {
        const std::int64_t open = store_.hour_number();
        if (open < 0) return;
        for (auto at = through_.lower_bound(open - 1); at != through_.end(); ++at)
            REQUIRE(at->second.size() <= maxima_.hourly + over(completed_, at->first));
        for (std::int64_t day = open / 24 - 1; day <= open / 24; ++day) {
            std::set<std::uint64_t> all;
            for (std::int64_t of = day * 24; of < day * 24 + 24; ++of)
                if (const auto at = through_.find(of); at != through_.end())
                    all.insert(at->second.begin(), at->second.end());
            REQUIRE(all.size() <= maxima_.daily + over(completed_daily_, day));
        }
        check_places(open);
    }

    /// What is counted, what room is kept for, and what may yet come out of shares, are never more than the maximum.
    void check_places(std::int64_t open) const {
        std::uint64_t unspent = 0, owed = 0;
        if (const auto granted = granted_.find(open); granted != granted_.end()) {
            std::uint64_t holders = 0;
            for (const auto& [name, state] : granted->second) holders += state >= share_state::of_hour;
            REQUIRE(holders <= shares_max);
            unspent = holders * share_of(maxima_.hourly, reserve);
        }
        for (const simulated_gate& gate : gates_) {
            if (gate.hour != open) continue;
            if (const auto taken = gate.taken.find(open); taken != gate.taken.end()) unspent -= taken->second;
            owed += gate.owed.size();
        }
        REQUIRE(store_.hour().count(whole) + owed + unspent <= maxima_.hourly + over(completed_, open));
    }
};

}  // namespace

TEST_CASE("whoever hears the store and whoever does not, no limit is exceeded but by what completes histograms") {
    const bool has_histograms = GENERATE(false, true);
    std::map<std::string, int> happened;
    for (std::uint64_t seed = 1; seed <= (sanitized ? 2 : 8); ++seed) {
        CAPTURE(seed);
        world all{seed, seed % 2 == 0 ? by_both : by_hour, has_histograms};
        for (int step = 0; step < 20'000; ++step) {
            CAPTURE(step);
            all.step();
        }
        for (const auto& [what, times] : all.happened) happened[what] += times;
    }
    for (const char* what : {"taken", "refused", "shared out", "no share", "owed", "at once", "told"}) {
        CAPTURE(what);
        CHECK(happened[what] > 0);
    }
}

}  // namespace shares_of_fleet_test
