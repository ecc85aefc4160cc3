#include "ingest/refusals.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "limit/explain.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"
#include "plan/telling_labels.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t logged_tenant_bytes_max = 100;

/// What a line says of a limit, and of the budget in which the first of the series is counted.
struct share_line {
    std::uint64_t samples = 0;
    std::string tenant;
    std::string_view limit;
    std::string group;
    refusing_window window = refusing_window::hourly;
    budget_window_figures figures;
    std::string example;
};

/// The spent one; the hour's if both are. Room that is kept for incumbents is spent for all others.
refusing_window window_without_room(const budget_figures& of) {
    const budget_window_figures& hour = of.hourly;
    const std::uint64_t left = hour.series_max - std::min(hour.series_max, hour.series_current);
    return hour.series_max != 0 && hour.series_reserved >= left ? refusing_window::hourly : refusing_window::daily;
}

share_line line_of(const refusing_request& of, const limit_share& share, std::uint64_t samples) {
    const refused_entry& first = share.first;
    const auto budget = budget_of(of.limiter, share.limit, of.planning.labels(first.entry), of.tenant);
    const budget_figures shown = budget.value_or(budget_figures{});
    const bool is_own = share.limit == exempt_limit || share.limit == ignored_values_limit;
    const refusing_window window = is_own ? window_without_room(shown) : window_of(first.reason);
    return {.samples = samples,
            .tenant = readable(of.tenant.substr(0, logged_tenant_bytes_max)),
            .limit = of.limiter.limit_name(share.limit),
            .group = cut_group_text(shown.name),
            .window = window,
            .figures = window == refusing_window::hourly ? shown.hourly : shown.daily,
            .example = to_text(telling_first(of.planning, first.entry))};
}

/// They point at the line.
std::array<log::field, 8> fields_of(const share_line& line) {
    return {{{"samples", line.samples},
             {"tenant", line.tenant},
             {"limit", line.limit},
             {"group", line.group},
             {"window", to_text(line.window)},
             {"max", line.figures.series_max},
             {"current", line.figures.series_current},
             {"example", line.example}}};
}

/// How a kind of lines is written.
struct wording {
    void (*of_limit)(std::span<const log::field> fields);
    void (*of_others)(const refusal_log::summary& rest);
};

constexpr wording refused{
    .of_limit = [](std::span<const log::field> fields) { log::write(log::level::warn, "series refused", fields); },
    .of_others =
        [](const refusal_log::summary& rest) {
            log::warn("more series refused", {{"samples", rest.samples}, {"limits", rest.limits}});
        }};
constexpr wording observed{
    .of_limit =
        [](std::span<const log::field> fields) { log::write(log::level::warn, "series would be refused", fields); },
    .of_others =
        [](const refusal_log::summary& rest) {
            log::warn("more series would be refused", {{"samples", rest.samples}, {"limits", rest.limits}});
        }};

void log_more_beyond(const refusal_log::summary& rest) {
    log::warn("more exempt series or ignored values beyond their limits",
              {{"samples", rest.samples}, {"limits", rest.limits}});
}

constexpr wording exempt_beyond{.of_limit =
                                    [](std::span<const log::field> fields) {
                                        log::write(log::level::warn, "exempt series beyond their limit", fields);
                                    },
                                .of_others = log_more_beyond};
constexpr wording values_beyond{.of_limit =
                                    [](std::span<const log::field> fields) {
                                        log::write(log::level::warn, "values of ignored labels beyond their limit",
                                                   fields);
                                    },
                                .of_others = log_more_beyond};

void log_shares(const refusing_request& of, std::span<const limit_share> shares, refusal_log& log, const wording& say) {
    for (const limit_share& share : shares) {
        const auto due = log.count(of.limiter.limit_name(share.limit), of.tenant, share.samples);
        if (due.samples != 0) {
            const share_line line = line_of(of, share, due.samples);
            say.of_limit(fields_of(line));
        }
        if (due.others) say.of_others(*due.others);
    }
}

void count_shares(const refusing_request& of, std::span<const limit_share> shares, limit_counters& counters) {
    for (const limit_share& share : shares) counters.add(of.limiter.limit_name(share.limit), of.tenant, share.samples);
}

}  // namespace

void log_refusals(const refusing_request& of, ingest_logs& logs) {
    log_shares(of, of.decided.refused_by, logs.refused, refused);
    log_shares(of, of.decided.observed_by, logs.observed, observed);
    for (const limit_share& share : of.decided.beyond)
        log_shares(of, {&share, 1}, logs.beyond, share.limit == exempt_limit ? exempt_beyond : values_beyond);
}

void log_further_refusals(ingest_logs& logs) {
    if (const auto rest = logs.refused.rest()) refused.of_others(*rest);
    if (const auto rest = logs.observed.rest()) observed.of_others(*rest);
    if (const auto rest = logs.beyond.rest()) log_more_beyond(*rest);
}

void count_refusals(const refusing_request& of, ingest_metrics& metrics) {
    count_shares(of, of.decided.refused_by, metrics.limit_samples_refused);
    count_shares(of, of.decided.observed_by, metrics.limit_samples_observed);
    if (of.decided.refused_unknown_samples != 0)
        metrics.limit_samples_refused.add(of.limiter.limit_name(unknown_limit), of.tenant,
                                          of.decided.refused_unknown_samples);
}

}  // namespace seriesgate
