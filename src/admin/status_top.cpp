#include <fmt/format.h>

#include <string>

#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"

namespace seriesgate {
namespace {

std::string title_html(const top_table& table) {
    switch (table.of) {
        case top_table::sort::metrics:
            return "Metrics";
        case top_table::sort::labels:
            return "Labels, by how many values they have";
        case top_table::sort::values:
            return "Values of " + name_html(table.label, 40);
        case top_table::sort::senders:
            return "Senders";
        case top_table::sort::tenants:
            break;
    }
    return "Tenants";
}

bool has_values(const top_table& table) {
    return table.of == top_table::sort::labels;
}

/// Names of metrics are long.
bool is_wide(const top_table& table) {
    return table.of == top_table::sort::metrics || table.of == top_table::sort::labels;
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
    out += fmt::format("<td>{}</td>", count_text(row.arrived, row.error == 0)) + refused_html(row);
    return out + fmt::format("<td class=\"quiet\">{}</td></tr>\n", row.error == 0 ? "" : "±" + grouped(row.error));
}

std::string table_html(const top_table& table) {
    std::string out = fmt::format(
        "<div class=\"card box{}\">\n<table>\n<caption>{}</caption>\n<thead><tr><td></td>{}<th scope=\"col\">new</th>"
        "<th scope=\"col\">refused</th><th scope=\"col\"><abbr title=\"the counts of this line may be wrong by so "
        "much\">±</abbr></th></tr></thead>\n"
        "<tbody>\n",
        is_wide(table) ? " wide" : "", title_html(table), has_values(table) ? "<th scope=\"col\">values</th>" : "");
    for (const top_row& each : table.rows) out += row_html(table, each);
    return out + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string top_section(const status_facts& of) {
    std::string out =
        "<section id=\"top\" data-part aria-labelledby=\"top-title\">\n"
        "<h2 id=\"top-title\">Who has the most new and refused series this hour</h2>\n";
    if (of.top.empty()) return out + "<p>No series has been new or refused.</p>\n</section>\n";
    out += "<div class=\"cards\">\n";
    for (const top_table& each : of.top) out += table_html(each);
    return out + "</div>\n</section>\n";
}

}  // namespace seriesgate
