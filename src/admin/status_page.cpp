#include "admin/status_page.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "admin/by_demand.hpp"
#include "limit/budget_text.hpp"

namespace seriesgate {

// With the hash of `style`: tests/e2e/test_status_page.py says what it has to be.
constexpr std::string_view status_policy =
    "default-src 'none'; style-src 'sha256-5XrrlQTXNfv+A9Irs10WUWfL197TFaqKw7h2B2LrJko='; base-uri 'none'; form-action "
    "'none'; frame-ancestors 'none'";

namespace {

constexpr std::string_view style =
    "body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse}"
    "th,td{padding:.2em .8em;border-bottom:1px solid #8884;text-align:right;overflow-wrap:anywhere}"
    "th:first-child,td:first-child{text-align:left}"
    ":root{color-scheme:light dark}";

constexpr std::size_t budgets_shown_max = 10;

/// As text between tags, or in a quoted attribute.
/// @param text valid UTF-8, its backslashes are escapes already, see readable().
std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (c == '\'')
            out += "&#39;";
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

/// A name by itself, so that letters that are written from right to left turn nothing else around.
std::string name_cell(std::string_view name) {
    return "<td><bdi>" + escaped(name) + "</bdi></td>";
}

/// Empty where senders name none.
std::string tenant_cell(const budget_name& name) {
    return name.has_tenant && name.tenant.empty() ? "<td>(no tenant)</td>" : name_cell(name.tenant);
}

std::string uptime_text(std::chrono::seconds uptime) {
    const auto minutes = std::chrono::floor<std::chrono::minutes>(uptime);
    const auto hours = std::chrono::floor<std::chrono::hours>(uptime);
    const auto days = std::chrono::floor<std::chrono::days>(uptime);
    if (days.count() != 0) return fmt::format("{} d {} h", days.count(), (hours - days).count());
    if (hours.count() != 0) return fmt::format("{} h {} min", hours.count(), (minutes - hours).count());
    if (minutes.count() != 0) return fmt::format("{} min", minutes.count());
    return fmt::format("{} s", uptime.count());
}

std::string maximum_text(std::uint64_t series_max) {
    return series_max == 0 ? "not limited" : std::to_string(series_max);
}

template <class Window>
std::string counts_cells(const Window& window) {
    return fmt::format("<td>{}</td><td>{}</td><td>{}</td>", window.series_current, maximum_text(window.series_max),
                       window.series_refused);
}

std::string window_row(std::string_view name, const window_figures& window) {
    return fmt::format("<tr><td>{}</td>{}<td>{:%Y-%m-%d %H:%M} UTC</td></tr>\n", name, counts_cells(window),
                       fmt::gmtime(std::chrono::system_clock::to_time_t(window.span.end)));
}

std::string budget_row(std::string name_cells, const budget_figures& budget) {
    return fmt::format("<tr>{}<td>{}</td>{}{}</tr>\n", name_cells, to_text(budget.mode), counts_cells(budget.hourly),
                       counts_cells(budget.daily));
}

std::string tenant_row(const budget_figures& budget) {
    return budget_row(tenant_cell(budget.name), budget);
}

std::string limit_row(const budget_figures& budget) {
    std::string group;
    for (const auto& [label, value] : budget.name.group)
        group.append(group.empty() ? "" : ", ").append(label).append("=").append(value);
    return budget_row(name_cell(budget.name.limit) + name_cell(group) + tenant_cell(budget.name), budget);
}

std::string window_table(const limiter_figures& figures) {
    return fmt::format(
               "<h2>Series</h2>\n<table>\n<tr><th>window</th><th>admitted</th><th>of</th><th>{}</th>"
               "<th>until</th></tr>\n",
               figures.mode == limit_mode::observe ? "would be refused" : "refused") +
           window_row("hour", figures.hourly) + window_row("day", figures.daily) + "</table>\n";
}

/// @param columns the heads of those that name a budget.
std::string budget_table(std::string_view title, std::string_view columns, const std::vector<budget_figures>& budgets,
                         std::string (*row)(const budget_figures&)) {
    const budget_list sorted = by_demand(budgets, whole_demand);
    const std::size_t shown = std::min(sorted.size(), budgets_shown_max);
    std::string out =
        fmt::format("<h2>{}</h2>\n<p>{} of {}, those with the most demand.</p>\n", title, shown, sorted.size());
    if (shown == 0) return out;
    out += fmt::format(
        "<table>\n<tr>{}<th>mode</th><th>this hour</th><th>of</th><th>refused</th>"
        "<th>today</th><th>of</th><th>refused</th></tr>\n",
        columns);
    for (std::size_t place = 0; place < shown; ++place) out += row(*sorted[place]);
    return out + "</table>\n";
}

std::string head_html(const process_facts& process, const limiter_figures& figures) {
    return fmt::format(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>seriesgate</title>\n"
        "<link rel=\"icon\" href=\"data:,\">\n"
        "<style>{}</style>\n</head>\n<body>\n<h1>seriesgate {}</h1>\n<p>Up for {}, mode: {}.{}</p>\n",
        style, escaped(process.version), uptime_text(process.uptime), to_text(figures.mode),
        figures.clock_in_doubt ? " The clock has leapt by over an hour and is not believed yet." : "");
}

constexpr std::string_view links =
    "<ul>\n"
    "<li><a href=\"/-/healthy\">health</a>: whether the process serves</li>\n"
    "<li><a href=\"/-/ready\">readiness</a>: whether to send to it</li>\n"
    "<li><a href=\"/stats\">stats</a>: figures as JSON, every tenant's and every limit's among them; "
    "<a href=\"/stats?limit=10\">those that matter most</a></li>\n"
    "<li><a href=\"/metrics\">metrics</a>: for Prometheus</li>\n"
    "<li><a href=\"/config\">config</a>: what it goes by, without secrets</li>\n"
    "<li>documentation: docs/ of the source; docs/stats.md explains these figures, docs/limits.md how to choose "
    "limits</li>\n"
    "</ul>\n";

}  // namespace

std::string status_html(const process_facts& process, const limiter_figures& figures) {
    return head_html(process, figures).append(links) + window_table(figures) +
           budget_table("Tenants", "<th>tenant</th>", figures.tenants, tenant_row) +
           budget_table("Limits", "<th>limit</th><th>group</th><th>tenant</th>", figures.limits, limit_row) +
           "</body>\n</html>\n";
}

}  // namespace seriesgate
