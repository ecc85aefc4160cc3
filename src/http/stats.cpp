#include "http/stats.hpp"

#include <fmt/chrono.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace seriesgate {
namespace {

namespace json = boost::json;

std::string utc(std::chrono::sys_seconds moment) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

json::object to_json(const window_figures& window) {
    return {{"start", utc(window.span.start)},
            {"end", utc(window.span.end)},
            {"maxSeries", window.series_max},
            {"currentSeries", window.series_current},
            {"refusedSeries", window.series_refused},
            {"refusedSamples", window.samples_refused},
            {"falsePositiveRate", window.false_positive_rate},
            {"filterBytes", window.filter_bytes}};
}

}  // namespace

std::string stats_json(std::string_view version, std::chrono::seconds uptime, const gate_metrics& metrics,
                       const admission_figures& figures) {
    const json::object stats{{"version", version},
                             {"uptimeSeconds", uptime.count()},
                             {"requests",
                              {{"total", metrics.requests_answered()},
                               {"rejected", metrics.requests_rejected_4xx()},
                               {"upstreamErrors", metrics.upstream_errors_total()}}},
                             {"samples",
                              {{"received", metrics.samples_received.value()},
                               {"accepted", metrics.samples_accepted.value()},
                               {"refused", metrics.samples_refused.value()}}},
                             {"windows", {{"hourly", to_json(figures.hourly)}, {"daily", to_json(figures.daily)}}}};
    return json::serialize(stats);
}

}  // namespace seriesgate
