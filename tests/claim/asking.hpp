/// How the tests of this folder say what a request has left open, what was asked about it, and what the answers were.
#pragma once

#include <span>
#include <stdexcept>

#include "claim/store_questions.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"

namespace seriesgate::testing {

/// A gate of a fleet, and one request there from its questions to its verdicts.
struct asking {
    series_limiter limiter;
    fleet_view view{};
    bool accepts_incumbents = false;
    store_questions asked{hash_key::known_to_all()};
    std::string tenant{"red"};
    std::vector<offered_series> offered{};
    std::vector<label_set> sets{};
    lookup_result open{};
    std::vector<std::optional<store_answer>> answers{};

    /// At half past ten.
    explicit asking(const limit_rules& settings)
        : limiter{settings, at(10, 30), hash_key::known_to_all(), limit_scope::fleet, set_kind::exact} {
        view.begin("epoch", {.hour = hour_number(at(10)), .generation = 1});
        view.set_state(store_reach::joined);
    }

    /// `count` series with these labels, numbered from `first`.
    asking& add(const label_set& labels, std::uint64_t first, std::uint64_t count = 1, bool admits = true) {
        for (std::uint64_t i = first; i < first + count; ++i) {
            offered.push_back({.fingerprint = fingerprint_of(i), .samples = 1, .admits = admits});
            sets.push_back(labels);
        }
        return *this;
    }
    asking& add_marker(std::uint64_t number) { return add({}, number, 1, false); }

    /// Nothing is offered any more.
    void start() {
        offered.clear();
        sets.clear();
    }

    std::span<const store_call> ask(time_point now = at(10, 30)) {
        shown_labels labels;
        for (const label_set& each : sets) labels.entries.push_back(views_of(each));
        std::vector<verdict> verdicts(offered.size(), verdict::unknown);
        limiter.lookup(offered, now, verdicts, open);
        if (!limiter.select(offered, open, {.tenant = tenant, .labels = &labels}))
            throw std::logic_error{"too much work"};
        answers.clear();
        asked.ask(offered, open, tenant, {limiter, view, hour_number(open.hour.start), accepts_incumbents, {}});
        return asked.calls();
    }

    /// Of all series of the calls that have no answer yet.
    asking& answer(const series_decision& each) {
        for (const store_call& one : asked.calls().subspan(answers.size()))
            answers.push_back(store_answer{.series = std::vector(one.fingerprints.size(), each),
                                           .budgets = std::vector<budget_in_store>(one.budgets.size())});
        return *this;
    }
    bool ask_rest() { return asked.ask_rest(answers); }

    /// When all is asked. Calls without an answer get none.
    fleet_decision decide(decision_outcome otherwise = decision_outcome::withheld) {
        return decide([otherwise](auto) { return otherwise; });
    }
    fleet_decision decide(const store_questions::without_answer& otherwise) {
        do answers.resize(asked.calls().size());
        while (ask_rest());
        return asked.decide(answers, otherwise);
    }
    std::vector<verdict> commit(const fleet_decision& said, time_point now = at(10, 30)) {
        std::vector<verdict> verdicts(offered.size(), verdict::unknown);
        if (!limiter.commit(offered, now, verdicts, open, {.tenant = tenant}, &said))
            throw std::logic_error{"too much work"};
        return verdicts;
    }

    std::vector<verdict> settle(time_point now = at(10, 30)) { return commit(decide(), now); }

    /// The gate follows the feed, which has said that so many series count in a budget.
    void hear(std::uint64_t id, std::uint64_t hourly) {
        view.set_fresh_until(witnessed_clock::steady_point{std::chrono::seconds{1}});
        view.hear(fed_call{.hour = view.windows().hour, .budgets = {{.id = id, .hourly = hourly}}});
    }
    /// Series of the hour before pass at once.
    void enter_eleven() {
        view.begin("epoch", {.hour = hour_number(at(11)), .generation = 1, .keeps_places = true});
        accepts_incumbents = true;
    }
};

/// Fingerprints of series with these numbers.
inline std::vector<std::uint64_t> fingerprints(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = first; i < first + count; ++i) all.push_back(fingerprint_of(i));
    return all;
}

/// A limit for each team, one for each job, one over all.
inline limit_rules three_limits() {
    return {.global = {.hourly = 100},
            .limits = {limit_named("teams", {"team"}, {.hourly = 10}), limit_named("jobs", {"job"}, {.hourly = 20})}};
}

/// Places of budgets in a call.
using places = std::vector<std::uint8_t>;
using runs = std::vector<series_run>;

inline const series_decision taken{.outcome = store_outcome::taken};

}  // namespace seriesgate::testing
