/// What a simulated fleet's gates let pass out of shares, against what was held back for that.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "claim/shares.hpp"
#include "claim/simulated_gate.hpp"
#include "claim/store_watch.hpp"
#include "claim/violation.hpp"

namespace seriesgate::testing {

/// Knows nothing but what servers have granted, and what gates have let pass and told. Refers to the world.
class share_watch {
    /// Series of one run of a gate in one budget.
    using counts = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;

    struct of_server {
        std::set<std::uint64_t> runs{};  ///< which have a share of its
        counts told{};                   ///< taken by it that were let pass out of a share
    };
    struct window {
        std::map<std::string, of_server> by_server{};  ///< by run_id
        counts passed{};

        [[nodiscard]] bool has_share(std::uint64_t run) const {
            return std::ranges::any_of(by_server, [run](const auto& each) { return each.second.runs.contains(run); });
        }
    };

    const simulated_world& world_;
    std::map<std::int64_t, window> hours_, days_;
    using numbers = std::map<std::uint64_t, std::uint64_t>;              // whose run: by number
    std::map<std::pair<std::string, std::int64_t>, numbers> numbers_{};  // of a day, by server

  public:
    explicit share_watch(const simulated_world& world) : world_(world) {}

    struct grant {
        std::int64_t hour = 0;
        share_state state = share_state::not_now;
        std::uint64_t number = 0;
    };
    void granted(const std::string& server, std::uint64_t run, const grant& said) {
        if (said.state < share_state::of_hour) return;
        const std::int64_t day = said.hour / 24;
        require(said.number >= 1 && said.number <= shares_max, "there are more shares than are held back");
        const auto [known, is_new] = numbers_[{server, day}].try_emplace(said.number, run);
        require(known->second == run, "a share is given that another run of a gate has");
        at(hours_, said.hour).by_server[server].runs.insert(run);
        if (said.state == share_state::of_day) at(days_, day).by_server[server].runs.insert(run);
        while (numbers_.size() > windows_max) numbers_.erase(numbers_.begin());
    }

    /// A gate has let a newcomer pass that nobody has answered about.
    void passed(const simulated_gate& gate, std::size_t rule, std::uint64_t series, std::int64_t hour) {
        for (const claimed_budget& each : world_.budgets_of(rule, series)) {
            pass(at(hours_, hour), gate, each.id, each.maxima.hourly);
            pass(at(days_, hour / 24), gate, each.id, each.maxima.daily);
        }
    }

    /// A server has counted one that had passed so.
    void told(const std::string& server, std::uint64_t run, std::uint64_t budget, std::int64_t hour, bool in_day) {
        ++at(hours_, hour).by_server[server].told[{run, budget}];
        if (in_day) ++at(days_, hour / 24).by_server[server].told[{run, budget}];
    }

    /// It may have lost which numbers it has given.
    void lost(const std::string& server) {
        std::erase_if(numbers_, [&server](const auto& each) { return each.first.first == server; });
    }

    /// The proof's inequality (src/fleet/README.md): what is counted, what room is kept for, and of each share what has
    /// not been counted, are together no more than the maximum.
    void check(const simulated_server& at, const store_watch& seen, time_point now) {
        if (world_.reserve == 0 || !world_.is_uniform() || !seen.is_unharmed()) return;
        const simulated_store& store = at.store;
        const bool is_after_owed = store.before() && (store.before()->owed || store.before()->owed_day);
        const std::int64_t hour = store.hour_number();
        for (const auto& [id, known] : world_.budgets) {
            // Where more came than claims may take, those who come back wait, and are newcomers.
            const std::uint64_t kept = is_after_owed ? 0 : seen.kept(store, id, now);
            check_window(hours_, hour, at.run_id, id, store.hour().count(id) + kept, known.maxima.hourly);
            if (!store.day() || !seen.is_day_unharmed()) continue;
            const std::uint64_t in_day = store.day()->count(id) + (hour % 24 == 0 ? kept : 0);
            check_window(days_, hour / 24, at.run_id, id, in_day, known.maxima.daily);
        }
    }

  private:
    static constexpr std::size_t windows_max = 100;

    static window& at(std::map<std::int64_t, window>& in, std::int64_t number) {
        window& found = in[number];
        while (in.size() > windows_max) in.erase(in.begin());
        return found;
    }

    static void pass(window& in, const simulated_gate& gate, std::uint64_t budget, std::uint64_t maximum) {
        if (maximum == 0) return;
        require(in.has_share(gate.number), "a gate takes from a share that it does not have");
        require(++in.passed[{gate.number, budget}] <= share_of(maximum, gate.reserve),
                "a gate takes more than its share");
    }

    void check_window(const std::map<std::int64_t, window>& in, std::int64_t number, const std::string& server,
                      std::uint64_t budget, std::uint64_t counted, std::uint64_t maximum) const {
        const auto found = in.find(number);
        if (maximum == 0 || found == in.end() || !found->second.by_server.contains(server)) return;
        const of_server& its = found->second.by_server.at(server);
        std::uint64_t left = 0;
        for (const std::uint64_t run : its.runs) {
            const auto told = its.told.find({run, budget});
            const std::uint64_t share = share_of(maximum, world_.reserve);
            left += share - (told == its.told.end() ? 0 : std::min(share, told->second));
        }
        require(counted + left <= maximum, "what is counted and kept, and shares, are more than a budget has");
    }
};

}  // namespace seriesgate::testing
