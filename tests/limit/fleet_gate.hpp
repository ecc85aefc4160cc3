/// How tests say what a store has told a gate of its fleet.
#pragma once

#include "limit/labelled.hpp"
#include "limit/limiter.hpp"
#include "limit/telling.hpp"
#include "limit/verdict.hpp"
#include "support/catch.hpp"

namespace seriesgate::testing {

/// The global budget and those of the tenant and the first limit, as a store may have counted them.
inline const std::vector<counted_budget> counted_by_all{{.place = 0, .hourly = 7, .daily = 9, .reserved = 0},
                                                        {.place = 1, .hourly = 3, .daily = 4, .reserved = 0},
                                                        {.place = 2, .hourly = 2, .daily = 2, .reserved = 0}};

inline pending_decision refused_by_budget(std::uint32_t place, refusing_window window = refusing_window::hourly) {
    return {.outcome = decision_outcome::refused, .window = window, .place = place, .budgets = counted_by_all};
}
inline const pending_decision store_takes{.outcome = decision_outcome::taken, .budgets = counted_by_all};
inline const pending_decision store_knows{.outcome = decision_outcome::known, .budgets = counted_by_all};
inline const pending_decision passes_untold{.outcome = decision_outcome::passes, .budgets = counted_by_all};

/// A limiter of a fleet, and one request between its two halves.
struct fleet_gate {
    series_limiter limiter;
    batch sent{.tenant = "red", .labels = {{"job", "api"}}};
    std::vector<offered_series> offered{};
    std::vector<verdict> verdicts{};
    lookup_result open{};
    shown_labels labels{};

    explicit fleet_gate(const limit_rules& settings, time_point now = at(10, 30))
        : limiter{settings, now, hash_key::known_to_all(), limit_scope::fleet, set_kind::exact} {}

    /// @return how many series the store is to be asked about.
    std::size_t lookup(std::uint64_t first, std::uint64_t count, time_point now, bool admits = true) {
        sent.first = first;
        sent.count = count;
        offered.clear();
        for (std::uint64_t i = first; i < first + count; ++i)
            offered.push_back({.fingerprint = fingerprint_in(sent, i), .samples = 2, .admits = admits});
        return look_up_again(now);
    }
    std::size_t look_up_again(time_point now) {
        labels.entries.assign(offered.size(), views_of(sent.labels));
        verdicts.assign(offered.size(), verdict::unknown);
        limiter.lookup(offered, now, verdicts, open);
        REQUIRE(limiter.select(offered, open, origin()));
        return open.pending.size();
    }
    std::vector<verdict> commit(const fleet_decision& said, time_point now) {
        REQUIRE(limiter.commit(offered, now, verdicts, open, origin(), &said));
        return verdicts;
    }
    /// Both, with a store that says the same of all series.
    std::vector<verdict> offer(std::uint64_t first, std::uint64_t count, time_point now, const pending_decision& each) {
        lookup(first, count, now);
        return commit(saying(each), now);
    }
    [[nodiscard]] fleet_decision saying(const pending_decision& each) const {
        return {.hour = open.hour,
                .losses = losses_of(limiter),
                .pending = std::vector<pending_decision>(open.pending.size(), each),
                .known_non_admitting = std::vector<bool>(open.non_admitting.size())};
    }
    [[nodiscard]] std::string refused_by(std::size_t entry) const {
        return limiter.limit_name(open.refused_by.at(entry));
    }
    /// @return what find_untold() finds in the whole table.
    std::set<std::uint64_t> untold() {
        std::vector<std::uint64_t> found;
        for (std::uint64_t next = 0; find_untold(limiter, next, found);) continue;
        return {found.begin(), found.end()};
    }
    [[nodiscard]] limiter_figures figures() const { return figures_of(limiter); }

  private:
    request_origin origin() { return {.tenant = sent.tenant, .labels = &labels}; }
};

inline limit_rules three_limits() {
    limit_rules made{.global = {.hourly = 10, .daily = 20}};
    made.tenants.fallback = {.hourly = 5, .daily = 8};
    made.limits = {limit_named("jobs", {"job"}, {.hourly = 3, .daily = 4})};
    return made;
}

using verdict_list = std::vector<verdict>;

}  // namespace seriesgate::testing
