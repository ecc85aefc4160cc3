#include "http/admin_handler.hpp"

#include <algorithm>
#include <array>

#include "config/version.hpp"
#include "http/stats.hpp"
#include "metrics/exposition.hpp"
#include "metrics/process.hpp"

namespace seriesgate {
namespace {

using handler = reply (*)(const shared_state&);

reply healthy(const shared_state&) {
    return text_reply(200, "OK");
}

reply ready(const shared_state& shared) {
    if (shared.draining) return text_reply(503, "draining: shutting down");
    if (!shared.ready) return text_reply(503, "starting");
    return text_reply(200, "OK");
}

reply stats(const shared_state& shared) {
    const auto uptime = std::chrono::steady_clock::now() - shared.started;
    reply made{.status = 200,
               .headers = {},
               .body = stats_json(version(), std::chrono::duration_cast<std::chrono::seconds>(uptime), shared.metrics,
                                  shared.limits.figures()) +
                       "\n"};
    made.headers.set(http::field::content_type, "application/json");
    return made;
}

/// One family with a sample for each window.
template <class Figure>
void write_windows(exposition& out, std::string_view name, std::string_view help, metric_type type,
                   const admission_figures& figures, Figure window_figures::*figure) {
    out.family(name, help, type);
    out.sample({{"window", "hourly"}}, figures.hourly.*figure);
    out.sample({{"window", "daily"}}, figures.daily.*figure);
}

void write(exposition& out, const admission_figures& figures) {
    constexpr auto gauge = metric_type::gauge;
    write_windows(out, "seriesgate_series_max", "Series that the window may admit; 0 is not limited.", gauge, figures,
                  &window_figures::series_max);
    write_windows(out, "seriesgate_series_current", "Series admitted in the current window.", gauge, figures,
                  &window_figures::series_current);
    write_windows(out, "seriesgate_series_refused",
                  "Distinct series refused by the window's limit in the current window, estimated within 2 %.", gauge,
                  figures, &window_figures::series_refused);
    write_windows(out, "seriesgate_window_samples_refused",
                  "Samples refused by the window's limit in the current window.", gauge, figures,
                  &window_figures::samples_refused);
    write_windows(out, "seriesgate_filter_false_positive_ratio",
                  "Share of new series that pass uncounted because the filter takes them for known, expected now.",
                  gauge, figures, &window_figures::false_positive_rate);
    write_windows(out, "seriesgate_filter_bytes", "Memory of the window's filter.", gauge, figures,
                  &window_figures::filter_bytes);
    out.family("seriesgate_commits_total", "Requests that held new series and went through the commit lock.",
               metric_type::counter);
    out.sample({}, figures.commits);
}

reply metrics(const shared_state& shared) {
    exposition out;
    out.family("seriesgate_build_info", "A constant 1, labelled with the version.", metric_type::gauge);
    out.sample({{"version", version()}}, 1);
    write(out, shared.limits.figures());
    seriesgate::write(out, shared.metrics);
    seriesgate::write(out, read_process_stats());
    reply made{.status = 200, .headers = {}, .body = out.take()};
    made.headers.set(http::field::content_type, exposition_content_type);
    return made;
}

struct route {
    std::string_view path;
    handler answer;
};

constexpr std::array routes{route{"/health", healthy}, route{"/-/healthy", healthy}, route{"/-/ready", ready},
                            route{"/stats", stats}, route{"/metrics", metrics}};

const route* find_route(std::string_view path) {
    const auto* const found = std::ranges::find(routes, path, &route::path);
    return found == routes.end() ? nullptr : found;
}

}  // namespace

bool is_admin_path(std::string_view path) {
    return find_route(path) != nullptr;
}

reply handle_admin(std::string_view path, const shared_state& shared) {
    return find_route(path)->answer(shared);
}

}  // namespace seriesgate
