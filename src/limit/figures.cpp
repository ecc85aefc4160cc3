// What admission tells those who watch: figures() and explain().
#include <utility>

#include "limit/limiter.hpp"

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

std::vector<spent_budget> series_limiter::explain(const offered_series& series, std::span<const label_view> labels,
                                                  std::string_view tenant) {
    rule_selections selections;
    for (;;) {
        catch_up();
        const auto rules = windows_.read()->rules;
        selections.clear();
        if (!selections.append(*rules, tenant, labels))
            return {};  // not under the lock: a regular expression may take its time
        const std::scoped_lock lock{commit_lock_};
        if (counts_.book.is_behind() || counts_.book.rules() != rules) continue;  // something came in between
        return explain_now(series, tenant, selections[0]);
    }
}

std::vector<spent_budget> series_limiter::explain_now(const offered_series& series, std::string_view tenant,
                                                      const rule_selections::one& selection) {
    const auto current = windows_.read();
    budget_book& book = counts_.book;
    std::vector<budget_pair*> budgets;
    std::vector<spent_budget> spent;
    tenant_of_request sender{.name = tenant};
    book.find(sender, selection, budgets);
    const bool new_in_day = !current->day->contains(series.fingerprint);
    const bool incumbent = current->is_incumbent(series.fingerprint, !new_in_day);
    const auto add_spent = [&](budget budget_pair::*window, refusing_window which) {
        for (std::size_t place = 0; place < budgets.size(); ++place) {
            const budget_pair* pair = budgets[place];
            if (pair == nullptr || !pair->enforces() || (pair->*window).has_room(incumbent)) continue;
            spent.push_back({.figures = figures_of(*pair), .window = which});
            const auto key = place < first_limit_place ? tenant : selection.key(place - first_limit_place).value_or("");
            spent.back().figures.name = name_of(*book.rules(), pair->role, key);
        }
    };
    add_spent(&budget_pair::hourly, refusing_window::hourly);
    if (new_in_day) add_spent(&budget_pair::daily, refusing_window::daily);
    return spent;
}

namespace {

/// Budgets that are looked at under one hold of the lock: an estimate of what was refused takes up to a microsecond.
constexpr std::size_t figures_per_piece = 32;

/// Names are made after the lock has been given back.
struct unnamed {
    std::string key;
    budget_role role;
    budget_figures figures;
};

}  // namespace

/// Some budgets at a time, so what is told of one may be a little newer than what is told of another. All are of the
/// same hour and the same rules.
limiter_figures series_limiter::figures() const {
    for (;;) {
        catch_up();
        limiter_figures made;
        std::vector<unnamed> budgets;
        std::shared_ptr<const compiled_rules> rules;
        budget_book::cursor at;
        {
            const std::scoped_lock lock{commit_lock_};
            if (counts_.book.is_behind()) continue;
            at = counts_.book.begin();
            rules = counts_.book.rules();
            made = figures_of_windows();
        }
        bool more = true;
        while (more) {
            const std::scoped_lock lock{commit_lock_};
            if (!counts_.book.holds(at)) break;
            more = counts_.book.visit_some(at, figures_per_piece, [&](const budget_pair& pair) {
                if (pair.role.kind == budget_kind::tenant || pair.role.kind == budget_kind::group)
                    budgets.push_back({.key = pair.key, .role = pair.role, .figures = figures_of(pair)});
            });
        }
        if (more) continue;  // a new hour or other rules: from the beginning
        for (unnamed& each : budgets) {
            each.figures.name = name_of(*rules, each.role, each.key);
            auto& into = each.role.kind == budget_kind::tenant ? made.tenants : made.limits;
            into.push_back(std::move(each.figures));
        }
        return made;
    }
}

/// Under the commit lock.
limiter_figures series_limiter::figures_of_windows() const {
    const auto current = windows_.read();
    const budget_book& book = counts_.book;
    const bool observed = book.rules()->mode == limit_mode::observe;
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
    limiter_figures made;
    made.mode = book.rules()->mode;
    made.clock_in_doubt = current->leap.has_value();
    made.hourly =
        of(current->hour_span, book.global().hourly, counts_.hourly, counts_.hourly_over_limit, *current->hour);
    made.daily =
        of(current->day_span, book.global().daily, counts_.daily, counts_.daily_over_limit, current->day->filter());
    made.exempt_hourly = book.exempt().hourly.current();
    made.exempt_daily = book.exempt().daily.current();
    made.commits = commits_.load(std::memory_order_relaxed);
    return made;
}

}  // namespace seriesgate
