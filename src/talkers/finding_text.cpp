#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "series/label.hpp"
#include "talkers/finding.hpp"

namespace seriesgate {
namespace {

std::string minute_text(time_point when) {
    return fmt::format("{:%H:%M} UTC", std::chrono::floor<std::chrono::seconds>(when));
}

}  // namespace

std::string to_text(const finding& found) {
    const auto values = [&found] { return count_text(found.values.values, found.values.is_exact); };
    const auto series = [&found] { return count_text(found.series, found.is_exact); };
    const auto metric = [&found] {
        if (found.metrics.empty()) return std::string{"many metrics"};
        std::string text = readable(found.metrics.front());
        if (found.metrics.size() > 1) text += fmt::format(" and {} more", found.metrics.size() - 1);
        return text;
    };
    const auto labels = [&found] {
        std::string text = readable(found.label);
        for (std::size_t i = 1; i < found.labels.size(); ++i) text.append(" and ").append(readable(found.labels[i]));
        return text;
    };
    std::string text;
    switch (found.what) {
        case explosion::label:
            text =
                fmt::format("label {} of {} has {} values among {} new series", labels(), metric(), values(), series());
            break;
        case explosion::buckets:
            text = fmt::format("{} has {} buckets, and {} new series", metric(), values(), series());
            break;
        case explosion::metric_names:
            text = fmt::format("{} metrics are called {}, and have {} new series", values(), metric(), series());
            break;
        case explosion::tenants:
            text = fmt::format("{} tenants have {} new series", values(), series());
            break;
        case explosion::targets:
            text = fmt::format("{} new targets (label {}) have {} new series", values(), labels(), series());
            break;
        case explosion::growth:
            text = fmt::format("{} of {} new series are refused, and no label has exploded",
                               count_text(found.refused, found.is_exact), series());
            if (!found.metrics.empty()) text += fmt::format("; most are of {}", metric());
    }
    if (!found.tenant.empty()) text += fmt::format(" of tenant {}", readable(found.tenant));
    if (!found.job.empty()) text += fmt::format(" of job {}", readable(found.job));
    if (!found.sender.empty()) text += fmt::format(", from {}", readable(found.sender));
    if (!found.agent.empty()) text += fmt::format(" ({})", readable(found.agent));
    text += ", since " + minute_text(found.since);
    return found.over_since ? text + ", over since " + minute_text(*found.over_since) : text;
}

}  // namespace seriesgate
