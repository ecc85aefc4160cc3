#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>

#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t shown_hours = 24;
constexpr std::uint64_t height = 100, slot_width = 20, bar_width = 16;

/// The last 24 hours, those without a gate too.
using day_of_hours = std::array<hour_counts, shown_hours>;

day_of_hours last_hours(const status_facts& of) {
    day_of_hours made{};
    const auto first = of.figures.hourly.span.start - std::chrono::hours{shown_hours - 1};
    for (std::size_t i = 0; i < shown_hours; ++i) made[i].start = first + std::chrono::hours{i};
    for (const hour_counts& each : of.hours) {
        const auto at = (each.start - first) / 1h;
        if (at >= 0 && at < std::ptrdiff_t{shown_hours}) made[static_cast<std::size_t>(at)] = each;
    }
    if (of.figures.mode == limit_mode::observe) return made;
    const series_count now = refused_now(of);  // as everywhere else on the page
    made.back().refused = now.series;
    made.back().is_exact = made.back().is_exact && now.is_exact;
    return made;
}

std::string hour_text(std::chrono::sys_seconds moment) {
    return fmt::format("{:%H:%M}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

/// At least one unit high, so that a few are seen beside many.
std::uint64_t high(std::uint64_t count, std::uint64_t most) {
    if (count == 0 || most == 0) return 0;
    return std::max<std::uint64_t>(1,
                                   static_cast<std::uint64_t>(static_cast<double>(height) * static_cast<double>(count) /
                                                              static_cast<double>(most)));
}

std::string bars_svg(const hour_counts& hour, std::size_t place, std::uint64_t most) {
    const std::uint64_t refused = high(hour.refused, most);
    const std::uint64_t arrived = std::min(height - refused, high(hour.arrived, most));
    const std::uint64_t x = place * slot_width + (slot_width - bar_width) / 2;
    return fmt::format(
        "<g><title>{} UTC: {} new, {} refused</title><rect class=\"slot\" x=\"{}\" width=\"{}\" height=\"{}\"/>"
        "<rect class=\"new\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>"
        "<rect class=\"refused\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\n",
        hour_text(hour.start), count_text(hour.arrived, hour.is_exact), count_text(hour.refused, hour.is_exact),
        place * slot_width, slot_width, height, x, height - arrived, bar_width, arrived, x, height - arrived - refused,
        bar_width, refused);
}

}  // namespace

std::string hours_chart(const status_facts& of) {
    const day_of_hours hours = last_hours(of);
    std::uint64_t most = 0, arrived = 0, refused = 0;
    bool is_exact = true;
    for (const hour_counts& each : hours) {
        is_exact = is_exact && each.is_exact;
        most = std::max(most, each.arrived + each.refused);
        arrived += each.arrived;
        refused += each.refused;
    }
    std::string out = fmt::format(
        "<figure class=\"card chart\">\n<figcaption><h3>New and refused series, by hour</h3> "
        "<span class=\"key\"><i class=\"new\"></i>{} new</span> <span class=\"key\"><i class=\"refused\"></i>{} refused"
        "</span></figcaption>\n<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
        "aria-label=\"{} new and {} refused series in the last 24 hours, at most {} in an hour\">\n",
        count_text(arrived, is_exact), count_text(refused, is_exact), shown_hours * slot_width, height,
        count_text(arrived, is_exact), count_text(refused, is_exact), count_text(most, is_exact));
    for (std::size_t i = 0; i < shown_hours; ++i) out += bars_svg(hours[i], i, most);
    return out + fmt::format(
                     "</svg>\n<p class=\"axis\"><span>{}</span><span>up to {} an hour</span><span>{} UTC</span>"
                     "</p>\n</figure>\n",
                     hour_text(hours.front().start), count_text(most, is_exact), hour_text(hours.back().start));
}

std::string minutes_chart(const status_facts& of) {
    const auto& refused = of.counts.delivery.refused_by_minute;
    const std::uint64_t all = std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
    if (all == 0) return {};
    const std::uint64_t most = *std::ranges::max_element(refused);
    const auto first = std::chrono::floor<std::chrono::minutes>(of.now) - std::chrono::minutes{refused.size() - 1};
    std::string out = fmt::format(
        "<figure class=\"card chart\">\n<figcaption><h3>Refused samples, by minute</h3> <span class=\"key\"><i "
        "class=\"refused\"></i>{0} in the last hour</span></figcaption>\n<svg viewBox=\"0 0 {1} {2}\" "
        "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0} samples refused in the last hour, at most {3} in a "
        "minute, {4} in the last one\">\n",
        grouped(all), refused.size() * slot_width, height, grouped(most), grouped(refused.back()));
    for (std::size_t i = 0; i < refused.size(); ++i) {
        const std::uint64_t high_by = high(refused[i], most);
        out += fmt::format(
            "<g><title>{} UTC: {}</title><rect class=\"slot\" x=\"{}\" width=\"{}\" height=\"{}\"/>"
            "<rect class=\"refused\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></g>\n",
            hour_text(first + std::chrono::minutes{i}), counted(refused[i], "sample refused", "samples refused"),
            i * slot_width, slot_width, height, i * slot_width + (slot_width - bar_width) / 2, height - high_by,
            bar_width, high_by);
    }
    return out + fmt::format(
                     "</svg>\n<p class=\"axis\"><span>{}</span><span>up to {} a minute</span><span>{} UTC</span>"
                     "</p>\n</figure>\n",
                     hour_text(first), grouped(most), hour_text(of.now));
}

}  // namespace seriesgate
