#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"

namespace seriesgate {
namespace {

/// One of the two, with what is kept of its room for those that have yet to come back.
struct shown_window {
    const window_figures& counted;
    std::uint64_t reserved;

    shown_window(const window_figures& figures, const budget_window_figures& global)
        : counted(figures), reserved(std::min(global.series_reserved, left())) {}

    [[nodiscard]] bool is_limited() const noexcept { return counted.series_max != 0; }
    [[nodiscard]] std::uint64_t left() const noexcept {
        return counted.series_max - std::min(counted.series_max, counted.series_current);
    }
};

/// Of a thousand, as wide as it is drawn.
std::uint64_t part_of(std::uint64_t count, std::uint64_t whole) {
    if (whole == 0) return 0;
    return std::min<std::uint64_t>(
        1'000, static_cast<std::uint64_t>(1'000.0 * static_cast<double>(count) / static_cast<double>(whole)));
}

/// What is taken, and what is kept for those that have yet to come back. The text beside it says the same.
std::string bar_html(const shown_window& window) {
    if (!window.is_limited()) return {};
    const std::uint64_t max = window.counted.series_max;
    const std::uint64_t taken = part_of(window.counted.series_current, max);
    const std::uint64_t kept = std::min(1'000 - taken, part_of(window.reserved, max));
    return fmt::format(
        "<svg class=\"bar\" viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"
        "<rect class=\"room\" width=\"1000\" height=\"8\"/><rect class=\"taken\" width=\"{}\" height=\"8\"/>"
        "<rect class=\"kept\" x=\"{}\" width=\"{}\" height=\"8\"/></svg>\n",
        taken, taken, kept);
}

std::string count_html(const shown_window& window) {
    const std::string current = fmt::format("<strong>{}</strong>", grouped(window.counted.series_current));
    if (!window.is_limited()) return current + " series, not limited";
    return fmt::format("{} of {} series", current, grouped(window.counted.series_max));
}

std::string left_text(const status_facts& of, const window_figures& window) {
    return duration_text(std::max(std::chrono::seconds{0}, window.span.end - of.now));
}

std::string room_text(const shown_window& window) {
    return window.is_limited() ? grouped(window.left() - window.reserved) : "not limited";
}

std::string refused_html(const status_facts& of, const window_figures& window) {
    const std::string count = count_text(window.series_refused, window.refused_is_exact);
    const bool is_bad = window.series_refused > 0 && of.figures.mode == limit_mode::enforce;
    return is_bad ? fmt::format("<strong class=\"bad\">{}</strong>", count) : count;
}

/// @param whose limits.
std::string window_html(const status_facts& of, std::string_view name, std::string_view whose,
                        const shown_window& window) {
    const char* const refused = of.figures.mode == limit_mode::observe ? "would be refused" : "refused";
    return fmt::format("<div class=\"card\">\n<h3>{}</h3>\n<p class=\"count\">{}</p>\n", name, count_html(window)) +
           bar_html(window) + "<dl>\n" +
           term_html(fmt::format("{} by the {}&#39;s limits", refused, whose), refused_html(of, window.counted)) +
           term_html("kept for known series", grouped(window.reserved)) +
           term_html("room for new series", room_text(window)) +
           term_html("resets at",
                     fmt::format("{}, in {}", moment_html(window.counted.span.end), left_text(of, window.counted))) +
           "</dl>\n</div>\n";
}

}  // namespace

std::string windows_section(const status_facts& of) {
    return "<section id=\"windows\" data-part aria-labelledby=\"windows-title\">\n<h2 "
           "id=\"windows-title\">Series</h2>\n"
           "<div class=\"cards\">\n" +
           window_html(of, "This hour", "hour", {of.figures.hourly, of.figures.global.hourly}) +
           window_html(of, "Today", "day", {of.figures.daily, of.figures.global.daily}) + minutes_chart(of) +
           hours_chart(of) + "</div>\n</section>\n";
}

}  // namespace seriesgate
