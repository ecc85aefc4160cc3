#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "series/text.hpp"
#include "talkers/finding.hpp"

namespace seriesgate {
namespace {

/// 99812 as `99,812`.
std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

}  // namespace

std::string to_text(const finding& found) {
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
            text = fmt::format("label {} of {} has {} values among {} new series", labels(), metric(),
                               grouped(found.values.values), grouped(found.series));
            break;
        case explosion::buckets:
            text = fmt::format("{} has {} buckets, and {} new series", metric(), grouped(found.values.values),
                               grouped(found.series));
            break;
        case explosion::metric_names:
            text = fmt::format("{} metrics are called {}, and have {} new series", grouped(found.values.values),
                               metric(), grouped(found.series));
            break;
        case explosion::tenants:
            text = fmt::format("{} tenants have {} new series", grouped(found.values.values), grouped(found.series));
            break;
        case explosion::targets:
            text = fmt::format("{} new targets (label {}) have {} new series", grouped(found.values.values), labels(),
                               grouped(found.series));
            break;
        case explosion::growth:
            text = fmt::format("{} of {} new series are refused, and no label has exploded", grouped(found.refused),
                               grouped(found.series));
            if (!found.metrics.empty()) text += fmt::format("; most are of {}", metric());
    }
    if (!found.tenant.empty()) text += fmt::format(" of tenant {}", readable(found.tenant));
    if (!found.job.empty()) text += fmt::format(" of job {}", readable(found.job));
    if (!found.sender.empty()) text += fmt::format(", from {}", readable(found.sender));
    if (!found.agent.empty()) text += fmt::format(" ({})", readable(found.agent));
    const auto minutes = std::chrono::floor<std::chrono::minutes>(found.since);
    return text + fmt::format(", since {:%H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(minutes)));
}

}  // namespace seriesgate
