#include "admin/limit_metrics.hpp"

#include <string>
#include <utility>
#include <vector>

#include "admin/by_demand.hpp"
#include "limit/budget_text.hpp"
#include "limit/figures.hpp"

namespace seriesgate {
namespace {

/// One family with a sample for each window.
template <class Figure>
void write_windows(exposition& out, std::string_view name, std::string_view help, metric_type type,
                   const limiter_figures& figures, Figure window_figures::*figure) {
    out.family(name, help, type);
    out.sample({{"window", "hourly"}}, figures.hourly.*figure);
    out.sample({{"window", "daily"}}, figures.daily.*figure);
}

constexpr std::size_t budgets_shown_max = 100;

/// @param readable its backslashes are escapes already, see readable().
void append_escaped(std::string& out, std::string_view readable) {
    for (const char c : readable) {
        if (c == '"') out += '\\';
        out += c;
    }
}

/// `{namespace="a",job="b"}`, whole: two groups that differ never look the same, or there would be two samples of one
/// name. A group with a budget of its own is short (budget_book.cpp).
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

std::uint64_t demand(const budget_figures& of) {
    return of.hourly.series_current + of.hourly.series_refused;
}

/// Three families for `kind` "tenant" or "limit".
void write_budgets(exposition& out, std::string_view kind, const std::vector<budget_figures>& all) {
    const auto budgets = by_demand(all, budgets_shown_max, demand);
    const auto family = [&](std::string_view what, std::string_view help,
                            std::uint64_t budget_window_figures::*figure) {
        out.family("seriesgate_" + std::string{kind} + "_series_" + std::string{what}, help, metric_type::gauge);
        for (const budget_figures* each : budgets)
            for (const auto& [window, of] : {std::pair{"hourly", &each->hourly}, std::pair{"daily", &each->daily}}) {
                const std::uint64_t value = of->*figure;
                const budget_name& name = each->name;
                if (kind == "tenant")
                    out.sample({{"tenant", name.tenant}, {"mode", to_text(each->mode)}, {"window", window}}, value);
                else
                    out.sample({{"limit", name.limit},
                                {"group", group_text(name)},
                                {"tenant", name.tenant},
                                {"mode", to_text(each->mode)},
                                {"window", window}},
                               value);
            }
    };
    family("max", "Series that the budget may admit in the window; 0 is not limited. The 100 with the most demand.",
           &budget_window_figures::series_max);
    family("current", "Series admitted in the current window.", &budget_window_figures::series_current);
    family("refused", "Distinct series that found no room in the current window; with mode observe they were admitted.",
           &budget_window_figures::series_refused);
}

}  // namespace

void write(exposition& out, const limiter_figures& figures) {
    constexpr auto gauge = metric_type::gauge;
    write_windows(out, "seriesgate_series_max", "Series that the window may admit; 0 is not limited.", gauge, figures,
                  &window_figures::series_max);
    write_windows(out, "seriesgate_series_current", "Series admitted in the current window.", gauge, figures,
                  &window_figures::series_current);
    write_windows(out, "seriesgate_series_refused",
                  "Distinct series refused in the current window, by any limit; an estimate when they are many.", gauge,
                  figures, &window_figures::series_refused);
    write_windows(out, "seriesgate_series_over_limit",
                  "Series admitted over a limit in the current window, to complete histograms that had begun.", gauge,
                  figures, &window_figures::series_over_limit);
    write_windows(out, "seriesgate_window_samples_refused", "Samples refused in the current window, by any limit.",
                  gauge, figures, &window_figures::samples_refused);
    write_windows(out, "seriesgate_filter_false_positive_ratio",
                  "Share of new series that pass uncounted because the filter takes them for known, expected now.",
                  gauge, figures, &window_figures::false_positive_rate);
    write_windows(out, "seriesgate_filter_bytes", "Memory of the window's filter.", gauge, figures,
                  &window_figures::filter_bytes);
    out.family("seriesgate_clock_in_doubt",
               "1 while the clock has leapt by over an hour and is not believed yet: the hour of before goes on.",
               gauge);
    out.sample({}, figures.clock_in_doubt ? 1 : 0);
    out.family("seriesgate_series_exempt", "Series admitted by exemption in the current window, in no limit.", gauge);
    out.sample({{"window", "hourly"}}, figures.exempt_hourly);
    out.sample({{"window", "daily"}}, figures.exempt_daily);
    write_budgets(out, "tenant", figures.tenants);
    write_budgets(out, "limit", figures.limits);
    out.family("seriesgate_commits_total", "Requests that held new series and went through the commit lock.",
               metric_type::counter);
    out.sample({}, figures.commits);
}

}  // namespace seriesgate
