#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>
#include <cstddef>
#include <string>

#include "admin/formatting.hpp"
#include "admin/limit_metrics.hpp"
#include "admin/status_page.hpp"
#include "limit/explain.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

/// By top_table::sort.
constexpr std::array<std::string_view, 5> titles{"Metrics", "Labels, by how many values they have", "Values of ",
                                                 "Senders", "Tenants"};

bool has_values(const top_table& table) {
    return table.of == top_table::sort::labels;
}

std::string value_html(const top_table& table, const top_row& row) {
    if (table.of == top_table::sort::tenants && row.value.empty()) return "(no tenant)";
    if (has_values(table)) {
        const std::string of =
            row.detail.empty() ? counted(row.metrics, "metric", "metrics") + " of targets" : name_html(row.detail);
        const std::string tenant = row.tenant.empty() ? "" : ", tenant " + name_html(row.tenant, 40);
        return fmt::format("{} <span class=\"quiet\">of {}{}</span>", name_html(row.value, 40), of, tenant);
    }
    if (row.detail.empty()) return name_html(row.value);
    return fmt::format("{} <span class=\"quiet\">{}</span>", name_html(row.value), name_html(row.detail, 40));
}

std::string refused_html(const top_row& row) {
    if (row.refused == 0) return "<td>0</td>";
    return fmt::format("<td class=\"bad\">{}</td>", count_text(row.refused, row.error == 0));
}

std::string row_html(const top_table& table, const top_row& row) {
    std::string out = fmt::format("<tr><th scope=\"row\">{}</th>", value_html(table, row));
    if (has_values(table)) out += fmt::format("<td>{}</td>", count_text(row.distinct_values, row.values_are_exact));
    out += fmt::format("<td>{}</td>", count_text(row.newly_admitted, row.error == 0)) + refused_html(row);
    return out + fmt::format("<td class=\"quiet\">{}</td></tr>\n", row.error == 0 ? "" : "±" + grouped(row.error));
}

std::string table_html(const top_table& table) {
    std::string out = fmt::format(
        "<div class=\"card box{}\">\n<table>\n<caption>{}{}</caption>\n<thead><tr><td></td>{}<th scope=\"col\">new</th>"
        "<th scope=\"col\">refused</th><th scope=\"col\"><abbr title=\"the counts of this line may be wrong by so "
        "much\">±</abbr></th></tr></thead>\n"
        "<tbody>\n",
        has_values(table) || table.of == top_table::sort::metrics ? " wide" : "",
        titles[static_cast<std::size_t>(table.of)],
        table.of == top_table::sort::values ? name_html(table.label, 40) : "",
        has_values(table) ? "<th scope=\"col\">values</th>" : "");
    for (const top_row& each : table.rows) out += row_html(table, each);
    return out + "</tbody>\n</table>\n</div>\n";
}

/// Rows in the page itself; the script shows all, a hundred at a time.
constexpr std::size_t painted_budgets_max = 100;
constexpr std::size_t budget_name_bytes_max = 60, group_bytes_max = 90;

/// The used part of the budget, in the fuller window.
double used_of(const budget_figures& of) {
    const auto part = [](const budget_window_figures& window) {
        if (window.series_max == 0) return -1.0;
        return static_cast<double>(window.series_current) / static_cast<double>(window.series_max);
    };
    return std::max({part(of.hourly), part(of.daily), of.active ? part(*of.active) : -1.0});
}

/// The budgets with most demand, the fullest first.
budget_list most_demanded(const limiter_figures& figures) {
    budget_list all = by_demand(figures.tenants, whole_demand), limits = by_demand(figures.limits, whole_demand);
    all.insert(all.end(), limits.begin(), limits.end());
    std::ranges::stable_sort(all, std::greater{}, [](const budget_figures* each) { return whole_demand(*each); });
    if (all.size() > painted_budgets_max) all.resize(painted_budgets_max);
    std::ranges::stable_sort(all, std::greater{}, [](const budget_figures* each) { return used_of(*each); });
    return all;
}

/// Empty if senders name no tenant.
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

/// The style has a class for each step of five percent; the last is red, and only for what refuses series.
std::string used_html(const budget_window_figures& window, bool refuses) {
    if (window.series_max == 0) return "<td></td>";
    const auto used = static_cast<std::uint64_t>(100.0 * static_cast<double>(window.series_current) /
                                                 static_cast<double>(window.series_max));
    return fmt::format("<td class=\"used u{}\">{} %</td>", std::min<std::uint64_t>(used, refuses ? 100 : 95) / 5 * 5,
                       grouped(used));
}

std::string window_html(const budget_window_figures& window, bool refuses) {
    const bool is_bad = window.series_refused > 0 && refuses;
    return fmt::format("<td>{}</td><td>{}</td>", grouped(window.series_current),
                       window.series_max == 0 ? "–" : grouped(window.series_max)) +
           used_html(window, refuses) +
           fmt::format("<td{}>{}</td>", is_bad ? " class=\"bad\"" : "",
                       count_text(window.series_refused, window.refused_is_exact));
}

std::string row_html(const budget_figures& budget) {
    const std::string limit =
        budget.name.limit.empty() ? "<em>tenant</em>" : name_html(budget.name.limit, budget_name_bytes_max);
    const bool refuses = budget.mode == limit_mode::enforce && refuses_series(budget.name.limit);
    return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td>", limit, group_html(budget.name),
                       tenant_html(budget.name), to_text(budget.mode)) +
           window_html(budget.hourly, refuses) + window_html(budget.daily, refuses) +
           (budget.active ? window_html(*budget.active, refuses) : "") + "</tr>\n";
}

/// The script sorts by `data-by`.
std::string budget_head_html(bool counts_active) {
    std::string groups, columns;
    const auto add = [&](std::string_view title, std::string_view key, std::string_view counted) {
        groups += fmt::format("<th scope=\"colgroup\" colspan=\"4\">{}</th>", title);
        for (const auto& [by, head] :
             {std::pair{"Current", counted}, {"Max", "of"}, {"Used", "used"}, {"Refused", "refused"}})
            columns += fmt::format("<th scope=\"col\" data-by=\"{}{}\">{}</th>", key, by, head);
    };
    add("this hour", "hour", "admitted");
    add("today", "day", "admitted");
    if (counts_active) add("active", "active", "series");
    return "<thead>\n<tr><td colspan=\"4\"></td>" + groups +
           "</tr>\n<tr><th scope=\"col\" data-by=\"limit\">limit</th><th scope=\"col\" data-by=\"group\">group</th>"
           "<th scope=\"col\" data-by=\"tenant\">tenant</th><th scope=\"col\" data-by=\"mode\">mode</th>" +
           columns + "</tr>\n</thead>\n";
}

/// Hidden without a script.
constexpr std::string_view controls_html =
    "<form id=\"budget-controls\" class=\"row\" hidden role=\"search\">\n"
    "<label>Filter <input id=\"budget-filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n"
    "<label><input id=\"budget-spent\" type=\"checkbox\"> only with refused series</label>\n"
    "<span class=\"pages\"><button type=\"button\" id=\"budget-back\">Previous</button> "
    "<button type=\"button\" id=\"budget-on\">Next</button></span>\n</form>\n";

constexpr std::size_t series_shown_max = 20;
constexpr std::size_t series_bytes_max = 300;
/// Bounds of the link to a series with long labels.
constexpr std::size_t linked_labels_max = 5;
constexpr std::size_t linked_bytes_max = 64;
/// Bound of the link to a series' explanation.
constexpr std::size_t asked_bytes_max = 400;

bool is_plain_name(std::string_view text) {
    return text.size() <= linked_bytes_max && is_identifier(text);
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_plain_value(std::string_view text) {
    return text.size() <= linked_bytes_max && is_printable(text) &&
           text.find_first_of("\"\\") == std::string_view::npos;
}

std::string percent_encoded(std::string_view text) {
    return boost::urls::encode(text, boost::urls::unreserved_chars);
}

/// A link to all labels of the series, found by its short labels.
std::string whole_link(const refused_series& one) {
    std::string match;
    std::size_t named = 0;
    for (const auto& [name, value] : one.labels) {
        if (!is_plain_name(name) || !is_plain_value(value) || value.empty() || named == linked_labels_max) continue;
        match += fmt::format("{}{}=\"{}\"", named++ == 0 ? "" : ",", name, value);
    }
    if (match.empty()) return "api/v1/refused?limit=1000";
    return "api/v1/refused?limit=10&match=" + percent_encoded("{" + match + "}");
}

/// A link to the current decision about the series. Empty if a label does not fit into a question.
std::string why_link(const refused_series& one) {
    std::string series;
    for (const auto& [name, value] : one.labels) {
        if (!is_plain_name(name) || !is_printable(value)) return {};
        series.append(series.empty() ? "{" : ",").append(name).append("=").append(in_double_quotes(value));
    }
    if (one.is_cut || series.empty() || series.size() > asked_bytes_max || !is_printable(one.tenant)) return {};
    std::string link = "api/v1/explain?series=" + percent_encoded(series + "}");
    return one.tenant.empty() ? link : link + "&tenant=" + percent_encoded(one.tenant);
}

std::string why_html(const refused_series& one) {
    const std::string reason = escaped(cut(reason_of(one), 200)), link = why_link(one);
    return link.empty() ? reason : fmt::format("{} <a class=\"why\" href=\"{}\">explain</a>", reason, escaped(link));
}

std::string series_html(const refused_series& one) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : one.labels) bytes += name.size() + value.size() + 4;
    const std::string shown =
        fmt::format("<code><bdi>{}</bdi></code>", escaped(to_text(label_views(one.labels), series_bytes_max)));
    if (bytes <= series_bytes_max) return shown;
    return shown + fmt::format(" <a href=\"{}\">all labels</a>", escaped(whole_link(one)));
}

std::string row_html(const refused_series& one) {
    const auto when = std::chrono::floor<std::chrono::seconds>(one.when);
    return fmt::format(
        "<tr><td><time datetime=\"{}\">{:%H:%M:%S}</time></td><td>{}</td><td>{}</td><td>{} <span "
        "class=\"quiet\">{}</span></td><td>{}</td></tr>\n",
        utc(when), fmt::gmtime(when), series_html(one), name_html(readable(one.tenant), 40),
        name_html(readable(one.sender), 40), name_html(readable(one.agent), 40), why_html(one));
}

}  // namespace

std::string top_section(const status_facts& of) {
    std::string tables;
    for (const top_table& each : of.top) tables += table_html(each);
    return section_html("top", "Who has the most new and refused series this hour",
                        tables.empty() ? "<p>No series has been new or refused.</p>\n"
                                       : "<div class=\"cards\">\n" + tables + "</div>\n");
}

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
    out.append(budget_head_html(of.figures.active.has_value())).append("<tbody id=\"budget-rows\">\n");
    for (const budget_figures* each : shown) out += row_html(*each);
    return out + "</tbody>\n</table>\n</div>\n</section>\n";
}

std::string refused_section(const status_facts& of) {
    constexpr std::string_view title = "Series that were refused last";
    if (of.refused.empty()) return section_html("refused", title, "<p>None since the gate was started.</p>\n");
    const std::size_t shown = std::min(of.refused.size(), series_shown_max);
    std::string out = fmt::format(
        "<p class=\"quiet\">{} of the last {}, the newest first; <a href=\"api/v1/refused?limit=1000\">all of them, "
        "as JSON</a>.</p>\n"
        "<div class=\"box\" id=\"refused-box\" tabindex=\"0\" role=\"region\" aria-labelledby=\"refused-title\">\n"
        "<table class=\"series\" aria-labelledby=\"refused-title\">\n"
        "<thead><tr><th scope=\"col\">UTC</th><th scope=\"col\">series</th><th scope=\"col\">tenant</th>"
        "<th scope=\"col\">sender</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
        shown, grouped(of.refused.size()));
    for (std::size_t i = 0; i < shown; ++i) out += row_html(*of.refused[i]);
    return section_html("refused", title, out + "</tbody>\n</table>\n</div>\n");
}

}  // namespace seriesgate
