#include "limit/explain.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "limit/admission.hpp"
#include "limit/figures.hpp"
#include "limit/limiter.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// @param exists whether the pair is in the table, or that which the next series would make.
budget_figures figures_in_place(const commit_state& held, const budget_pair& pair, bool exists,
                                const budget_identity& wanted) {
    budget_figures made = figures_of(pair, held.budgets, held.minute);
    made.name = name_of(*held.budgets.rules(), pair.role, wanted.key.value_or(""));
    if (!exists && held.table) made.active = {.series_max = pair.active.max()};
    return made;
}

std::optional<budget_figures> budget_now(commit_state& held, limit_number limit, std::string_view tenant,
                                         const rule_selections::one& selection) {
    std::vector<budget_pair*> budgets;
    tenant_of_request sender{.name = tenant};
    held.budgets.find(sender, selection, budgets);
    for (std::size_t place = 0; place < budgets.size(); ++place) {
        if (held.limit_at(place, selection) != limit) continue;
        const budget_identity wanted = budget_in_place(place, selection, tenant);
        if (budgets[place] != nullptr) return figures_in_place(held, *budgets[place], true, wanted);
        return figures_in_place(held, held.budgets.missing(wanted), false, wanted);
    }
    return selection.exempt() ? budget_now(held, limit, tenant, selection.without_exemption()) : std::nullopt;
}

std::optional<std::uint64_t> room_in(const budget& window, standing of, bool is_spent) {
    return window.limits() ? std::optional{is_spent ? 0 : window.room(of)} : std::nullopt;
}

std::vector<applying_budget> applying_budgets(const commit_state& held, const std::vector<budget_pair*>& budgets,
                                              const foreseen& what, const rule_selections::one& selection,
                                              std::string_view tenant) {
    std::vector<applying_budget> made;
    for (std::size_t place = 0; place < budgets.size(); ++place) {
        const budget_identity wanted = budget_in_place(place, selection, tenant);
        const bool exists = budgets[place] != nullptr;
        std::optional<budget_pair> fresh;
        if (!exists) fresh.emplace(held.budgets.missing(wanted));
        const budget_pair& pair = exists ? *budgets[place] : *fresh;
        const in_windows spent = what.spent[place];
        made.push_back({.limit = held.limit_at(place, selection),
                        .figures = figures_in_place(held, pair, exists, wanted),
                        .exists = exists,
                        .spent = spent,
                        .hourly_room = room_in(pair.hourly, what.before, spent.hour),
                        .daily_room = room_in(pair.daily, what.before, spent.day),
                        .active_room = held.budgets.active_room_of(pair, held.minute)});
    }
    return made;
}

explanation remembered_of(const limiter_state& state, const window_sets& current, std::uint64_t fingerprint) {
    explanation made{.hour = current.hour_span, .day = current.day_span};
    made.in_hour = current.hour_has(fingerprint);
    made.in_day = current.day_has(fingerprint);
    if (current.has_hour_before()) made.in_hour_before = current.hour_before_has(fingerprint);
    if (current.table && !state.is_shared()) {  // a fleet does not count active series
        const series_mark mark = current.table->read().mark_of(fingerprint);
        made.is_active = mark.combination != 0;
        if (mark.seen != 0) made.last_seen = std::chrono::sys_seconds{std::chrono::minutes{mark.seen}};
    }
    if (current.hour) made.false_positive_rate = current.hour->false_positive_rate();
    if (!made.in_hour) made.refused_lately = state.refused.lookup(fingerprint);
    return made;
}

explanation explain_all(commit_state& held, limiter_state& state, const offered_series& series,
                        const histogram_family& family, std::string_view tenant, const rule_selections::one& selected) {
    const auto current = state.sets.read();
    const compiled_rules& rules = *held.budgets.rules();
    lookup_result open;
    admission foreseeing{held, state, *current, tenant, open};
    explanation made = remembered_of(state, *current, series.fingerprint);
    made.exempt = selected.exempt();
    made.beyond_exemption = made.exempt && foreseeing.is_beyond_exemption(series, selected);
    const auto foresee = [&](const rule_selections::one& selection) {
        foreseen what = foreseeing.foresee(series, rules.whole_histograms ? family : histogram_family{}, selection);
        const auto applying = applying_budgets(held, open.budgets, what, selection, tenant);
        made.budgets.insert(made.budgets.end(), applying.begin(), applying.end());
        if (state.is_shared())
            for (auto& each : made.budgets) each.figures.active.reset();
        return what;
    };
    foreseen what = foresee(selected);
    const auto selection = made.beyond_exemption ? selected.without_exemption() : selected;
    if (made.beyond_exemption) what = foresee(selection);
    made.is_incumbent = what.before == standing::incumbent;
    made.whole_histograms = rules.whole_histograms;
    made.in_histogram = what.in_histogram;
    made.histogram_begun = what.begun;
    if (made.in_hour) return made;
    made.asks_store = state.is_shared() && is_limited(rules, tenant, selection);
    made.refused = made.refused_lately ? made.refused_lately : what.refused;
    made.with_histogram = !made.refused_lately && what.with_histogram;
    if (!made.refused) made.completing = what.completing;
    return made;
}

enum class asked_about : std::uint8_t { series, ignored_value };

/// Calls `ask` under the commit lock, with the rules in force.
/// @param ask gets the commit state and the limits that apply to the labels, or to their ignored value.
/// @param work left to evaluate rules with; made less.
template <class Ask>
auto ask_limiter(limiter_state& state, std::span<const label_view> labels, std::string_view tenant, std::uint64_t& work,
                 Ask ask, asked_about what = asked_about::series)
    -> decltype(ask(std::declval<commit_state&>(), std::declval<const rule_selections::one&>())) {
    rule_selections selections;
    for (;;) {
        catch_up(state.commit);
        const auto rules = state.sets.read()->rules;
        selections.clear(work);
        if (what == asked_about::ignored_value && !rules->ignores_labels) return {};
        const bool selected = what == asked_about::series ? selections.append(*rules, tenant, labels)
                                                          : selections.append_ignored_value(*rules, tenant);
        work = selections.work_left();
        if (!selected) return {};  // evaluated without the lock: a regular expression may take long
        const auto held = state.commit.lock();
        if (held->budgets.is_behind() || held->budgets.rules() != rules)
            continue;  // rules or hour have changed meanwhile
        return ask(*held, selections[0]);
    }
}

constexpr std::size_t group_bytes_max = 256;

/// The configuration's key.
std::string_view maximum_key(refusing_window window) noexcept {
    return window == refusing_window::hourly  ? "maxHourlySeries"
           : window == refusing_window::daily ? "maxDailySeries"
                                              : "maxActiveSeries";
}

/// @param readable from readable(), so its backslashes already are escapes.
void append_escaped(std::string& out, std::string_view readable) {
    for (const char c : readable) {
        if (c == '"') out += '\\';
        out += c;
    }
}

}  // namespace

std::optional<budget_figures> budget_of(series_limiter& limiter, limit_number limit, std::span<const label_view> labels,
                                        std::string_view tenant) {
    const auto ask = [&](commit_state& held, const rule_selections::one& selection) {
        return budget_now(held, limit, tenant, selection);
    };
    std::uint64_t work = rule_work_max;
    return ask_limiter(limiter.state(), labels, tenant, work, ask,
                       limit == ignored_values_limit ? asked_about::ignored_value : asked_about::series);
}

std::vector<spent_budget> explain(const series_limiter& limiter, const offered_series& series,
                                  std::span<const label_view> labels, std::string_view tenant, std::uint64_t& work) {
    std::vector<spent_budget> spent;
    const auto what = ask_limiter(
        limiter.state(), labels, tenant, work, [&](commit_state& held, const rule_selections::one& selection) {
            return std::optional{explain_all(held, limiter.state(), series, {}, tenant, selection)};
        });
    if (!what) return spent;
    for (const auto window : {refusing_window::hourly, refusing_window::daily, refusing_window::active})
        for (const applying_budget& each : what->budgets)
            if (each.figures.mode == limit_mode::enforce && is_in(window, each.spent))
                spent.push_back({.figures = each.figures, .window = window});
    return spent;
}

std::optional<explanation> explain_series(const series_limiter& limiter, const offered_series& series,
                                          const histogram_family& family, std::span<const label_view> labels,
                                          std::string_view tenant) {
    limiter_state& state = limiter.state();
    std::uint64_t work = rule_work_max;
    return ask_limiter(state, labels, tenant, work, [&](commit_state& held, const rule_selections::one& selection) {
        return std::optional{explain_all(held, state, series, family, tenant, selection)};
    });
}

std::string to_text(const spent_budget& spent) {
    const budget_window_figures& window = in_window(spent.figures, spent.window);
    const std::string whose = owner_text(spent.figures.name);
    std::string text = whose + (whose.empty() ? "" : ": ");
    text.append(maximum_key(spent.window)).append(" ").append(std::to_string(window.series_max)).append(" is spent (");
    text.append(std::to_string(window.series_current));
    return text.append(spent.window == refusing_window::active ? " series active)" : " series admitted)");
}

std::string_view rest_text(const spent_budget& spent) noexcept {
    const budget_window_figures& window = in_window(spent.figures, spent.window);
    if (window.series_current >= window.series_max) return {};
    if (spent.window != refusing_window::active) return ", and the rest is kept for series of the hour before";
    return ", and it has had twice as many new series lately, or counts others since a reload";
}

std::string owner_text(const budget_name& name) {
    std::string text;
    if (!name.limit.empty()) text = "limit " + name.limit + cut_group_text(name);
    if (name.has_tenant) text.append(text.empty() ? "" : " of ").append("tenant ").append(quoted_text(name.tenant));
    return text;
}

std::string cut_group_text(const budget_name& name) {
    std::vector<std::string> texts;
    for (const auto& [label, value] : name.group) texts.insert(texts.end(), {unreadable(label), unreadable(value)});
    std::vector<label_view> labels;
    for (std::size_t i = 0; i < texts.size(); i += 2) labels.push_back({texts[i], texts[i + 1]});
    return labels.empty() ? std::string{} : to_text(labels, group_bytes_max);
}

std::string group_text(const budget_name& name) {
    std::string text;
    for (const auto& [label, value] : name.group) {
        text += text.empty() ? '{' : ',';
        append_escaped(text, label);
        text += "=\"";
        append_escaped(text, value);
        text += '"';
    }
    if (!text.empty()) text += '}';
    return text;
}

std::string_view note_on(const budget_name& name) noexcept {
    if (!name.overflow) return {};
    const auto is_own = [&name](std::string_view own) { return name.limit == own; };  // bounded by tenants, too
    if (name.limit.empty() || std::ranges::any_of(own_limit_names, is_own))
        return "shared by all tenants beyond tenants.maxTenants: raise it, or give those that matter an override";
    return "shared by all groups beyond maxGroups of the limit: raise it, or limit by a label with fewer values";
}

std::string_view to_text(refusing_window window) noexcept {
    return window == refusing_window::hourly ? "hourly" : window == refusing_window::daily ? "daily" : "active";
}

std::string_view to_text(limit_mode mode) noexcept {
    return mode == limit_mode::observe ? "observe" : "enforce";
}

}  // namespace seriesgate
