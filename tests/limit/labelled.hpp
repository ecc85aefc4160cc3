/// How the tests of this folder say whose series they are, what labels they have, and what a budget came to.
#pragma once

#include <compare>
#include <span>
#include <stdexcept>

#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "limit/offering.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate::testing {

/// Whose budget it is, comparable: a tenant's (no limit), or that of a label limit's group. A limit has one overflow
/// budget, whatever it is called.
struct budget_id {
    std::string limit{};
    std::string tenant{};
    group_labels group{};
    bool overflow = false;

    friend auto operator<=>(const budget_id&, const budget_id&) = default;
    friend bool operator==(const budget_id&, const budget_id&) = default;
};

inline budget_id id_of(const budget_figures& figures) {
    const budget_name& name = figures.name;
    if (name.overflow) return {.limit = name.limit, .overflow = true};
    return {.limit = name.limit, .tenant = name.has_tenant ? name.tenant : std::string{}, .group = name.group};
}

inline selector selecting(std::string_view text) {
    auto parsed = parse_selector(text);
    if (!parsed) throw std::invalid_argument{parsed.error().message};
    return *parsed;
}

/// A label limit; what else it has, a test sets.
inline label_limit limit_named(std::string name, std::vector<std::string> each, series_maxima maxima,
                               std::string_view match = {}) {
    label_limit made;
    made.name = std::move(name);
    if (!match.empty()) made.match = selecting(match);
    made.each = std::move(each);
    made.maxima = maxima;
    return made;
}

/// Name and value; sorted by name.
using label_set = std::vector<std::pair<std::string, std::string>>;

inline std::vector<label_view> views_of(const label_set& labels) {
    std::vector<label_view> views;
    for (const auto& [name, value] : labels) views.push_back({name, value});
    return views;
}

/// Shows labels as a request does, and counts how often it was asked.
struct shown_labels final : label_source {
    std::vector<std::vector<label_view>> entries;
    std::uint64_t asked = 0;
    std::string tenant{};

    std::span<const label_view> labels(std::size_t entry) override {
        ++asked;
        return entries.at(entry);
    }
    histogram_family family(std::size_t, std::span<const label_view> of) override {
        return hasher_.family(of, tenant_key_of(tenant, hash_key::known_to_all()));
    }

  private:
    label_hasher hasher_{hash_key::known_to_all()};
};

/// Some series of one tenant with the same labels, told apart by their number.
struct batch {
    std::string tenant{};
    label_set labels{};
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    bool admits = true;       ///< false: stale markers of these series
    bool are_stored = false;  ///< see request_origin
};

/// Series of one namespace.
inline batch in(std::string space, std::uint64_t first, std::uint64_t count, std::string tenant = {}) {
    return {.tenant = std::move(tenant), .labels = {{"namespace", std::move(space)}}, .first = first, .count = count};
}

inline std::uint64_t fingerprint_in(const batch& of, std::uint64_t number) {
    std::string text = of.tenant;
    for (const auto& [name, value] : of.labels) text += '\0' + name + '\0' + value;
    return fingerprint_of(std::hash<std::string>{}(text) + number);
}

/// A limiter for senders with tenants and labels.
struct labelled_offering : offering {
    std::vector<offered_series> offered;
    shown_labels labels;

    labelled_offering(const limit_rules& settings, time_point now, set_kind kind = set_kind::bloom)
        : offering{settings, now, kind} {}

    /// One request of one tenant.
    verdict_counts offer(const batch& sent, time_point now) {
        prepare(sent);
        return decide(sent, now);
    }
    std::uint64_t accepted(const batch& sent, time_point now) { return offer(sent, now).accepted; }
    std::uint64_t refused(const batch& sent, time_point now) {
        offer(sent, now);
        return static_cast<std::uint64_t>(std::ranges::count_if(verdicts, is_refused));
    }

    /// Fills what decide() offers.
    void prepare(const batch& sent) {
        offered.clear();
        for (std::uint64_t i = sent.first; i < sent.first + sent.count; ++i)
            offered.push_back({.fingerprint = fingerprint_in(sent, i), .samples = 1, .admits = sent.admits});
        labels.entries.assign(offered.size(), views_of(sent.labels));
        verdicts.assign(offered.size(), verdict::unknown);
    }
    verdict_counts decide(const batch& sent, time_point now) {
        labels.tenant = sent.tenant;
        limiter.decide(offered, now, verdicts, scratch,
                       {.tenant = sent.tenant, .labels = &labels, .are_stored = sent.are_stored});
        return verdict_counts_of(verdicts);
    }

    [[nodiscard]] std::optional<budget_figures> find(const budget_id& id) const {
        const limiter_figures figures = figures_of(limiter);
        for (const auto* all : {&figures.tenants, &figures.limits})
            for (const budget_figures& each : *all)
                if (id_of(each) == id) return each;
        return std::nullopt;
    }
    [[nodiscard]] bool has(const budget_id& id) const { return find(id).has_value(); }
    /// @throws if there is no such budget.
    [[nodiscard]] budget_figures budget(const budget_id& id) const { return find(id).value(); }
    [[nodiscard]] budget_window_figures hourly(const budget_id& id) const { return budget(id).hourly; }
    [[nodiscard]] budget_window_figures daily(const budget_id& id) const { return budget(id).daily; }
    using offering::hourly, offering::daily;
};

inline const budget_id tenant_overflow{.overflow = true};

inline budget_id tenant_id(std::string_view tenant) {
    return {.tenant = std::string{tenant}};
}
inline budget_id overflow_of(std::string_view limit) {
    return {.limit = std::string{limit}, .overflow = true};
}

}  // namespace seriesgate::testing
