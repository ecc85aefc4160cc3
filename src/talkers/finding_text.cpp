#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "series/text.hpp"
#include "talkers/findings.hpp"

namespace seriesgate {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// 99812 as `99,812`.
std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

}  // namespace

std::string name_pattern(std::string_view metric) {
    std::string made;
    for (std::size_t at = 0; at < metric.size();) {
        std::size_t end = at, digits = 0;
        while (end < metric.size() && is_hex(metric[end])) digits += is_digit(metric[end++]) ? 1 : 0;
        const bool stands_alone = end == metric.size() || !is_letter(metric[end]);
        if (digits != 0 && end - at >= 4 && stands_alone) {  // a hash, or a part of a UUID
            at = end;
        } else if (is_digit(metric[at])) {
            while (at < metric.size() && is_digit(metric[at])) ++at;
        } else {
            // To the end of a word: there are hexadecimal digits in many.
            do made += metric[at++];
            while (at < metric.size() && is_letter(metric[at - 1]) && is_letter(metric[at]));
            continue;
        }
        if (!made.ends_with('#')) made += '#';
    }
    return made;
}

std::string to_text(const finding& found) {
    const auto metric = [&found] {
        if (found.metrics.empty()) return std::string{"all metrics"};
        std::string text = readable(found.metrics.front());
        if (found.metrics.size() > 1) text += fmt::format(" and {} more", found.metrics.size() - 1);
        return text;
    };
    std::string text;
    switch (found.what) {
        case explosion::label:
            text = fmt::format("label {} of {} has {} values among {} new series", readable(found.label), metric(),
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
    }
    if (!found.tenant.empty()) text += fmt::format(" of tenant {}", readable(found.tenant));
    if (!found.job.empty()) text += fmt::format(" of job {}", readable(found.job));
    if (!found.sender.empty()) text += fmt::format(", from {}", readable(found.sender));
    if (!found.agent.empty()) text += fmt::format(" ({})", readable(found.agent));
    const auto minutes = std::chrono::floor<std::chrono::minutes>(found.since);
    return text + fmt::format(", since {:%H:%M} UTC", fmt::gmtime(std::chrono::system_clock::to_time_t(minutes)));
}

}  // namespace seriesgate
