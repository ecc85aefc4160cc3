// What admission tells those who watch: figures() and explain().
#include <utility>

#include "limit/admission.hpp"

namespace seriesgate {
namespace {

budget_window_figures figures_of(const budget& counted) {
    return {
        .series_max = counted.max(), .series_current = counted.current(), .series_refused = counted.refused_series()};
}

budget_figures figures_of(const budget_pair& pair) {
    return {.name = {}, .mode = pair.mode, .hourly = figures_of(pair.hourly), .daily = figures_of(pair.daily)};
}

}  // namespace

std::vector<spent_budget> admission::explain(const offered_series& series, std::span<const label_view> labels,
                                             std::string_view tenant) {
    rule_selections selections;
    std::vector<budget_pair*> budgets;
    std::vector<spent_budget> spent;
    auto rules = windows_.read()->rules;
    selections.append(*rules, tenant, labels);  // not under the lock: a regular expression may take its time
    const std::scoped_lock lock{commit_lock_};
    const auto current = windows_.read();
    if (book_.rules() != rules) {  // a reload came in between
        rules = book_.rules();
        selections.clear();
        selections.append(*rules, tenant, labels);
    }
    const rule_selections::one selection = selections[0];
    tenant_of_request sender{.name = tenant};
    book_.find(sender, selection, budgets);
    const bool new_in_day = !current->day->contains(series.fingerprint);
    const bool incumbent = current->is_incumbent(series.fingerprint, !new_in_day);
    const auto add_spent = [&](budget budget_pair::*window, refusing_window which) {
        for (std::size_t i = 0; i < budgets.size(); ++i) {
            const budget_pair* pair = budgets[i];
            if (pair == nullptr || !pair->enforces() || (pair->*window).has_room(incumbent)) continue;
            spent.push_back({.figures = figures_of(*pair), .window = which});
            spent.back().figures.name = name_of(*rules, pair->role, i < 2 ? tenant : selection.key(i - 2).value_or(""));
        }
    };
    add_spent(&budget_pair::hourly, refusing_window::hourly);
    if (new_in_day) add_spent(&budget_pair::daily, refusing_window::daily);
    return spent;
}

admission_figures admission::figures() const {
    /// Names are made after the lock has been given back: there may be ten thousand.
    struct unnamed {
        std::string key;
        budget_role role;
        budget_figures figures;
    };
    std::vector<unnamed> budgets;
    std::shared_ptr<const limit_rules> rules;
    admission_figures made;
    {
        const std::scoped_lock lock{commit_lock_};
        rules = book_.rules();
        const bool observed = rules->mode == limit_mode::observe;
        const auto of = [observed](const window_span& span, const budget& global, const refusals& refused,
                                   std::uint64_t over_limit, const admitted_set& set) {
            return window_figures{.span = span,
                                  .series_max = global.max(),
                                  .series_current = global.current(),
                                  .series_refused = observed ? global.refused_series() : refused.series.estimate(),
                                  .samples_refused = refused.samples.load(std::memory_order_relaxed),
                                  .series_over_limit = over_limit,
                                  .false_positive_rate = set.false_positive_rate(),
                                  .filter_bytes = set.bytes()};
        };
        const auto current = windows_.read();
        made.mode = rules->mode;
        made.hourly =
            of(current->hour_span, book_.global().hourly, hourly_refusals_, hourly_over_limit_, *current->hour);
        made.daily = of(current->day_span, book_.global().daily, daily_refusals_, daily_over_limit_, *current->day);
        made.exempt_hourly = book_.exempt().hourly.current();
        made.exempt_daily = book_.exempt().daily.current();
        made.commits = commits_;
        book_.for_each([&](const budget_pair& pair, std::string_view key) {
            if (pair.role.kind == budget_kind::tenant || pair.role.kind == budget_kind::group)
                budgets.push_back({.key = std::string{key}, .role = pair.role, .figures = figures_of(pair)});
        });
    }
    for (unnamed& each : budgets) {
        each.figures.name = name_of(*rules, each.role, each.key);
        auto& into = each.role.kind == budget_kind::tenant ? made.tenants : made.limits;
        into.push_back(std::move(each.figures));
    }
    return made;
}

}  // namespace seriesgate
