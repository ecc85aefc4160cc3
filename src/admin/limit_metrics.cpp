#include "admin/limit_metrics.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "limit/explain.hpp"

namespace seriesgate {
namespace {

template <class Figure>
void write_windows(exposition& out, std::string_view name, std::string_view help, const limiter_figures& figures,
                   Figure window_figures::*figure, bool has_active = false) {
    out.family(name, help, metric_type::gauge);
    out.sample({{"window", "hourly"}}, figures.hourly.*figure);
    out.sample({{"window", "daily"}}, figures.daily.*figure);
    if (has_active && figures.active) out.sample({{"window", "active"}}, *figures.active.*figure);
}

constexpr std::size_t tenants_shown_max = 100;
constexpr std::size_t groups_shown_max = 100;     // of one limit
constexpr std::size_t budget_metrics_max = 1000;  // of all limits

/// Those that refuse come first, since alerts are about them; then those that would; then those with most demand.
std::pair<int, std::uint64_t> interest(const budget_figures& of) noexcept {
    const bool has_refused = whole_demand(of) > of.hourly.series_current;
    return {!has_refused ? 0 : of.mode == limit_mode::observe ? 1 : 2, hourly_demand(of)};
}

budget_list shown_tenants(const std::vector<budget_figures>& all) {
    budget_list shown = by_demand(all, interest);
    if (shown.size() > tenants_shown_max) shown.resize(tenants_shown_max);
    return shown;
}

using counts_by_limit = std::map<std::string_view, std::size_t>;

/// How many budgets each limit may show, so that limits with many never hide those with few.
std::size_t room_for_each(const counts_by_limit& counts) {
    const auto taken = [&](std::size_t each_max) {
        std::size_t sum = 0;
        for (const auto& [limit, count] : counts) sum += std::min(count, each_max);
        return sum;
    };
    std::size_t room = groups_shown_max;
    while (room > 1 && taken(room) > budget_metrics_max) --room;
    return room;
}

budget_list shown_groups(const std::vector<budget_figures>& all) {
    counts_by_limit counts;
    for (const budget_figures& each : all) ++counts[each.name.limit];
    const std::size_t room = room_for_each(counts);
    counts_by_limit taken;
    budget_list shown;
    for (const budget_figures* each : by_demand(all, interest))
        if (taken[each->name.limit]++ < room) shown.push_back(each);
    return shown;
}

void write_tenant(exposition& out, const budget_figures& of, std::string_view window, std::uint64_t value) {
    out.sample({{"tenant", of.name.tenant}, {"mode", to_text(of.mode)}, {"window", window}}, value);
}

void write_group(exposition& out, const budget_figures& of, std::string_view window, std::uint64_t value) {
    out.sample({{"limit", of.name.limit},
                {"group", group_text(of.name)},
                {"tenant", of.name.tenant},
                {"mode", to_text(of.mode)},
                {"window", window}},
               value);
}

constexpr std::string_view current_help = "Series admitted in the current window, or active.";
constexpr std::string_view refused_help =
    "Distinct series that found no room in the current window; with mode observe they were admitted.";

/// What differs between the budgets of tenants and of limits.
struct budget_families {
    std::string_view prefix;
    std::string_view shown;  // which ones
    void (*write_one)(exposition&, const budget_figures&, std::string_view window, std::uint64_t);
};

void write_budgets(exposition& out, const budget_families& of, const budget_list& budgets) {
    const std::string max_help =
        fmt::format("Series that the budget may admit in the window; 0 is not limited. {}", of.shown);
    const auto write_family = [&](std::string_view suffix, std::string_view help,
                                  std::uint64_t budget_window_figures::*figure) {
        out.family(fmt::format("{}{}", of.prefix, suffix), help, metric_type::gauge);
        for (const budget_figures* each : budgets) {
            of.write_one(out, *each, "hourly", each->hourly.*figure);
            of.write_one(out, *each, "daily", each->daily.*figure);
            if (each->active) of.write_one(out, *each, "active", *each->active.*figure);
        }
    };
    write_family("_max", max_help, &budget_window_figures::series_max);
    write_family("_current", current_help, &budget_window_figures::series_current);
    write_family("_refused", refused_help, &budget_window_figures::series_refused);
}

}  // namespace

void write(exposition& out, const limiter_figures& figures) {
    write_gauge(out, "seriesgate_observe", "1 while the global mode is observe: no limit refuses anything.",
                figures.mode == limit_mode::observe ? 1 : 0);
    write_windows(out, "seriesgate_series_max", "Series that the window may admit; 0 is not limited.", figures,
                  &window_figures::series_max, true);
    write_windows(out, "seriesgate_series_current", current_help, figures, &window_figures::series_current, true);
    write_windows(out, "seriesgate_series_refused",
                  "Distinct series refused in the current window, by its limits; an estimate when they are many. While "
                  "seriesgate_observe is 1: what the global limit would have refused.",
                  figures, &window_figures::series_refused, true);
    write_windows(out, "seriesgate_series_over_limit",
                  "Series admitted over a limit in the current window, to complete histograms that had begun.", figures,
                  &window_figures::series_over_limit, true);
    write_windows(
        out, "seriesgate_series_cut",
        "Distinct series refused in the current window although their histogram had begun, since as many as may "
        "be were over the limit; an estimate when they are many.",
        figures, &window_figures::series_cut);
    write_windows(out, "seriesgate_window_samples_refused",
                  "Samples refused in the current window, by its limits; none are added while seriesgate_observe is 1.",
                  figures, &window_figures::samples_refused, true);
    write_windows(out, "seriesgate_filter_false_positive_ratio",
                  "Share of new series that pass uncounted because the filter takes them for known, expected now.",
                  figures, &window_figures::false_positive_rate);
    write_windows(out, "seriesgate_filter_bytes", "Memory of the window's filter.", figures,
                  &window_figures::filter_bytes);
    write_gauge(out, "seriesgate_clock_in_doubt",
                "1 while the clock has leapt by over an hour and is not believed yet: the hour of before goes on.",
                figures.clock_in_doubt ? 1 : 0);
    out.family("seriesgate_series_exempt", "Series admitted by exemption in the current window, in no limit.",
               metric_type::gauge);
    out.sample({{"window", "hourly"}}, figures.exempt_hourly);
    out.sample({{"window", "daily"}}, figures.exempt_daily);
    if (figures.active) out.sample({{"window", "active"}}, figures.exempt_active);
    write_budgets(out,
                  {.prefix = "seriesgate_tenant_series",
                   .shown = "At most 100: those that refuse, then those with the most demand.",
                   .write_one = write_tenant},
                  shown_tenants(figures.tenants));
    write_budgets(out,
                  {.prefix = "seriesgate_limit_series",
                   .shown = "At most 100 of a limit and 1000 of all: those that refuse, then those with most demand.",
                   .write_one = write_group},
                  shown_groups(figures.limits));
    out.family("seriesgate_commits_total", "Requests that held new series and went through the commit lock.",
               metric_type::counter);
    out.sample({}, figures.commits);
}

}  // namespace seriesgate
