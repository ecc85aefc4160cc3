#include "limit/explain.hpp"

#include <utility>

#include "limit/budget_figures.hpp"
#include "limit/limiter.hpp"
#include "limit/limiter_state.hpp"

namespace seriesgate {
namespace {

/// The key that the budget in this place is filed under.
std::string_view key_at(std::size_t place, const rule_selections::one& selection, std::string_view tenant) {
    return place < first_limit_place ? tenant : selection.key(place - first_limit_place).value_or("");
}

std::vector<spent_budget> explain_now(ledger& held, const window_sets& current, const offered_series& series,
                                      std::string_view tenant, const rule_selections::one& selection) {
    std::vector<budget_pair*> budgets;
    std::vector<spent_budget> spent;
    tenant_of_request sender{.name = tenant};
    held.book.find(sender, selection, budgets);
    const bool in_day = current.day->contains(series.fingerprint);
    const standing of = current.standing_of(series.fingerprint, in_day);
    const auto add_spent = [&](budget budget_pair::*window, refusing_window which) {
        for (std::size_t place = 0; place < budgets.size(); ++place) {
            const budget_pair* pair = budgets[place];
            if (pair == nullptr || !pair->enforces() || (pair->*window).has_room(of)) continue;
            spent.push_back({.figures = figures_of(*pair), .window = which});
            spent.back().figures.name = name_of(*held.book.rules(), pair->role, key_at(place, selection, tenant));
        }
    };
    add_spent(&budget_pair::hourly, refusing_window::hourly);
    if (!in_day) add_spent(&budget_pair::daily, refusing_window::daily);
    return spent;
}

std::optional<budget_figures> budget_now(ledger& held, limit_number limit, std::string_view tenant,
                                         const rule_selections::one& selection) {
    std::vector<budget_pair*> budgets;
    tenant_of_request sender{.name = tenant};
    held.book.find(sender, selection, budgets);
    for (std::size_t place = 0; place < budgets.size(); ++place) {
        const budget_pair* pair = budgets[place];
        if (pair == nullptr || held.limit_at(place, selection) != limit) continue;
        budget_figures found = figures_of(*pair);
        found.name = name_of(*held.book.rules(), pair->role, key_at(place, selection, tenant));
        return found;
    }
    return std::nullopt;
}

/// Asks under the lock, by the rules that are in force then.
/// @param ask called with the ledger and what applies to a series with these labels.
template <class Ask>
auto ask_limiter(limiter_state& state, std::span<const label_view> labels, std::string_view tenant, Ask ask)
    -> decltype(ask(std::declval<ledger&>(), std::declval<const rule_selections::one&>())) {
    rule_selections selections;
    for (;;) {
        catch_up(state.counts);
        const auto rules = state.sets.read()->rules;
        selections.clear();
        if (!selections.append(*rules, tenant, labels))
            return {};  // not under the lock: a regular expression may take its time
        const auto held = state.counts.lock();
        if (held->book.is_behind() || held->book.rules() != rules) continue;  // something came in between
        return ask(*held, selections[0]);
    }
}

}  // namespace

std::optional<budget_figures> budget_of(series_limiter& limiter, limit_number limit, std::span<const label_view> labels,
                                        std::string_view tenant) {
    return ask_limiter(limiter.state(), labels, tenant, [&](ledger& held, const rule_selections::one& selection) {
        return budget_now(held, limit, tenant, selection);
    });
}

std::vector<spent_budget> explain(series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant) {
    limiter_state& state = limiter.state();
    return ask_limiter(state, labels, tenant, [&](ledger& held, const rule_selections::one& selection) {
        return explain_now(held, *state.sets.read(), series, tenant, selection);
    });
}

}  // namespace seriesgate
