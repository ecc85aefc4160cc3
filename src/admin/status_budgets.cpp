#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "admin/by_demand.hpp"
#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"
#include "limit/explain.hpp"

namespace seriesgate {
namespace {

/// Painted by the server; the script has them all, a hundred at a time.
constexpr std::size_t painted_budgets_max = 100;
constexpr std::size_t budget_name_bytes_max = 60, group_bytes_max = 90;

/// The part of its room that is taken, in the window that has less.
double used_of(const budget_figures& of) {
    const auto part = [](const budget_window_figures& window) {
        if (window.series_max == 0) return -1.0;
        return static_cast<double>(window.series_current) / static_cast<double>(window.series_max);
    };
    return std::max(part(of.hourly), part(of.daily));
}

/// Of both lists those with the most demand, the fullest ones first.
budget_list most_demanded(const limiter_figures& figures) {
    budget_list all = by_demand(figures.tenants, whole_demand), limits = by_demand(figures.limits, whole_demand);
    all.insert(all.end(), limits.begin(), limits.end());
    std::ranges::stable_sort(all, std::greater{}, [](const budget_figures* each) { return whole_demand(*each); });
    if (all.size() > painted_budgets_max) all.resize(painted_budgets_max);
    std::ranges::stable_sort(all, std::greater{}, [](const budget_figures* each) { return used_of(*each); });
    return all;
}

/// Empty where senders name none.
std::string tenant_html(const budget_name& name) {
    if (name.has_tenant && name.tenant.empty()) return "(no tenant)";
    return name_html(name.tenant, budget_name_bytes_max);
}

std::string group_html(const budget_name& name) {
    std::string group;
    for (const auto& [label, value] : name.group)
        group.append(group.empty() ? "" : ", ").append(label).append("=").append(value);
    const std::string_view note = note_on(name);
    if (note.empty()) return name_html(group, group_bytes_max);
    return fmt::format("{} <span class=\"quiet\">{}</span>", name_html(group, group_bytes_max), note);
}

/// In steps of five, for which the style has a class each; refreshed with the text beside it.
std::string used_html(const budget_window_figures& window) {
    if (window.series_max == 0) return "<td></td>";
    const auto used = static_cast<std::uint64_t>(100.0 * static_cast<double>(window.series_current) /
                                                 static_cast<double>(window.series_max));
    return fmt::format("<td class=\"used u{}\">{} %</td>", std::min<std::uint64_t>(used, 100) / 5 * 5, grouped(used));
}

std::string window_html(const budget_window_figures& window, limit_mode mode) {
    const bool is_bad = window.series_refused > 0 && mode == limit_mode::enforce;
    return fmt::format("<td>{}</td><td>{}</td>", grouped(window.series_current),
                       window.series_max == 0 ? "–" : grouped(window.series_max)) +
           used_html(window) +
           fmt::format("<td{}>{}</td>", is_bad ? " class=\"bad\"" : "",
                       count_text(window.series_refused, window.refused_is_exact));
}

std::string row_html(const budget_figures& budget) {
    const std::string limit =
        budget.name.limit.empty() ? "<em>tenant</em>" : name_html(budget.name.limit, budget_name_bytes_max);
    return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>", limit, group_html(budget.name),
                       tenant_html(budget.name), to_text(budget.mode)) +
           window_html(budget.hourly, budget.mode) + window_html(budget.daily, budget.mode) + "</tr>\n";
}

/// `data-by` is what the script sorts by.
constexpr std::string_view budget_head_html =
    "<thead>\n<tr><td colspan=\"4\"></td><th scope=\"colgroup\" colspan=\"4\">this hour</th>"
    "<th scope=\"colgroup\" colspan=\"4\">today</th></tr>\n"
    "<tr><th scope=\"col\" data-by=\"limit\">limit</th><th scope=\"col\" data-by=\"group\">group</th>"
    "<th scope=\"col\" data-by=\"tenant\">tenant</th><th scope=\"col\" data-by=\"mode\">mode</th>"
    "<th scope=\"col\" data-by=\"hourCurrent\">admitted</th><th scope=\"col\" data-by=\"hourMax\">of</th>"
    "<th scope=\"col\" data-by=\"hourUsed\">used</th><th scope=\"col\" data-by=\"hourRefused\">refused</th>"
    "<th scope=\"col\" data-by=\"dayCurrent\">admitted</th><th scope=\"col\" data-by=\"dayMax\">of</th>"
    "<th scope=\"col\" data-by=\"dayUsed\">used</th><th scope=\"col\" data-by=\"dayRefused\">refused</th></tr>\n"
    "</thead>\n";

/// Without a script nobody sees it.
constexpr std::string_view controls_html =
    "<form id=\"budget-controls\" class=\"row\" hidden role=\"search\">\n"
    "<label>Filter <input id=\"budget-filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n"
    "<label><input id=\"budget-spent\" type=\"checkbox\"> only with refused series</label>\n"
    "<span class=\"pages\"><button type=\"button\" id=\"budget-back\">Previous</button> "
    "<button type=\"button\" id=\"budget-on\">Next</button></span>\n</form>\n";

}  // namespace

std::string budgets_section(const status_facts& of) {
    const std::size_t total = of.figures.tenants.size() + of.figures.limits.size();
    const budget_list shown = most_demanded(of.figures);
    std::string out = fmt::format(
        "<section id=\"budgets\" data-total=\"{}\" aria-labelledby=\"budgets-title\">\n"
        "<h2 id=\"budgets-title\">Budgets of tenants and limits</h2>\n",
        total);
    if (total == 0)
        return out +
               "<p>None: <code>tenants</code> and <code>limits</code> of the configuration make them.</p>\n"
               "</section>\n";
    out += controls_html;
    out += fmt::format(
        "<p id=\"budget-count\" class=\"quiet\">{} of {}, those with the most demand; the fullest first.</p>\n",
        grouped(shown.size()), grouped(total));
    out +=
        "<div class=\"box\" id=\"budget-box\" tabindex=\"0\" role=\"region\" aria-labelledby=\"budgets-title\">\n"
        "<table id=\"budget-table\" class=\"budgets\" aria-labelledby=\"budgets-title\">\n";
    out.append(budget_head_html).append("<tbody id=\"budget-rows\">\n");
    for (const budget_figures* each : shown) out += row_html(*each);
    return out + "</tbody>\n</table>\n</div>\n</section>\n";
}

}  // namespace seriesgate
