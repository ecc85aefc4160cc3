/// How the tests of this folder say what a request has left open, and what was asked about it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "claim/questions.hpp"
#include "limit/labelled.hpp"
#include "limit/limiter.hpp"

namespace seriesgate::testing {

/// A request at a gate of a fleet, up to its questions.
struct asking {
    series_limiter limiter;
    questions asked{hash_key::known_to_all()};
    std::string tenant{"red"};
    std::vector<offered_series> offered{};
    std::vector<label_set> sets{};
    lookup_result open{};
    known_counts counted{};

    explicit asking(const limit_rules& settings, time_point now = at(10, 30))
        : limiter{settings, now, hash_key::known_to_all(), limit_scope::fleet, tested_set()} {}

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

    std::span<const claim> ask(time_point now = at(10, 30)) {
        shown_labels labels;
        for (const label_set& each : sets) labels.entries.push_back(views_of(each));
        std::vector<verdict> verdicts(offered.size(), verdict::unknown);
        asked.start();
        limiter.lookup(offered, now, verdicts, open);
        if (!limiter.select(offered, open, {.tenant = tenant, .labels = &labels}))
            throw std::logic_error{"too much work"};
        const known_histograms histograms{
            .has_begun = [this](std::uint64_t family) { return limiter.has_begun(family); },
            .is_refused = [this](std::uint64_t family) { return limiter.has_refused(family); },
            .is_incumbent = [this](std::uint64_t series) { return limiter.may_be_incumbent(series); }};
        asked.ask(
            offered, open, tenant, [this](std::uint64_t series) { return limiter.knows(series); }, counted, histograms);
        return asked.claims();
    }
};

/// Fingerprints of series with these numbers.
inline std::vector<std::uint64_t> fingerprints(std::uint64_t first, std::uint64_t count) {
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = first; i < first + count; ++i) all.push_back(fingerprint_of(i));
    return all;
}

/// A limit with a budget of so many series an hour for each value of a label.
inline label_limit limit_each(std::string name, std::string label, series_maxima maxima) {
    label_limit made;
    made.name = std::move(name);
    made.each.push_back(std::move(label));
    made.maxima = maxima;
    return made;
}

/// A limit for each team, one for each job, one over all.
inline limit_rules three_limits() {
    limit_rules made{.global = {.hourly = 100}};
    made.limits.push_back(limit_each("teams", "team", {.hourly = 10}));
    made.limits.push_back(limit_each("jobs", "job", {.hourly = 20}));
    return made;
}

/// Places of budgets in a claim.
using places = std::vector<std::uint8_t>;

/// An answer that says the same of all series.
inline claim_answer answering(const claim& of, series_answer each, time_point now = at(10, 30)) {
    return {.windows = {.now = now},
            .series = std::vector<series_answer>(of.fingerprints.size(), each),
            .budgets = std::vector<budget_answer>(of.budgets.size())};
}

}  // namespace seriesgate::testing
