#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "admin/formatting.hpp"
#include "admin/status_page.hpp"

namespace seriesgate {
namespace {

/// Bound of backends and of gates: /stats has all.
constexpr std::size_t rows_max = 50;
constexpr std::size_t store_name_bytes_max = 100;

std::string backend_row(const store_counts& store, const backend_counts& backend) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td class=\"left\">{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td></tr>\n",
        name_html(backend.name, store_name_bytes_max),
        store.is_replica ? (store.best_effort ? "replica, best effort" : "replica") : "store",
        backend.is_up ? "up" : "<strong>down</strong>", backend.in_flight, backend.connections,
        grouped(backend.requests), grouped(backend.errors));
}

std::string backends_html(const status_facts& of) {
    std::string rows;
    std::size_t count = 0;
    for (const store_counts& store : of.counts.stores)
        for (const backend_counts& backend : store.backends)
            if (count++ < rows_max) rows += backend_row(store, backend);
    if (rows.empty()) return "<p>No store: <code>discard:</code> keeps nothing.</p>\n";
    return "<div class=\"box\" id=\"stores-box\" tabindex=\"0\" role=\"region\" aria-labelledby=\"stores-title\">\n"
           "<table aria-labelledby=\"stores-title\">\n<thead><tr><th scope=\"col\" class=\"left\">address</th>"
           "<th scope=\"col\" class=\"left\">what</th><th scope=\"col\" class=\"left\">state</th>"
           "<th scope=\"col\">in flight</th><th scope=\"col\">connections</th><th scope=\"col\">requests</th>"
           "<th scope=\"col\">without answer</th></tr></thead>\n<tbody>\n" +
           rows + "</tbody>\n</table>\n</div>\n";
}

std::string fleet_html(const status_facts& of) {
    if (!of.counts.shared) return {};
    const shared_counts& shared = *of.counts.shared;
    std::string out = fmt::format(
        "<h3>Gates that count together in {}: {}</h3>\n<div class=\"box\">\n<table>\n<thead><tr>"
        "<th scope=\"col\" class=\"left\">gate</th><th scope=\"col\" class=\"left\">version</th>"
        "<th scope=\"col\">seen</th></tr></thead>\n<tbody>\n",
        name_html(shared.name_space, store_name_bytes_max), escaped(shared.state));
    for (std::size_t i = 0; i < shared.gates.size() && i < rows_max; ++i) {
        const fleet_gate_counts& gate = shared.gates[i];
        out += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td>{} ago</td></tr>\n",
                           name_html(gate.name, store_name_bytes_max), name_html(gate.version, 40),
                           duration_text(std::chrono::seconds{gate.seen_seconds_ago}));
    }
    return out + "</tbody>\n</table>\n</div>\n";
}

std::string ago_html(const status_facts& of, std::chrono::sys_seconds when) {
    return fmt::format("{}, {} ago", moment_html(when),
                       duration_text(std::max(std::chrono::seconds{0}, of.now - when)));
}

std::string state_html(const status_facts& of) {
    if (!of.upkeep.keeps_state) return "not kept: <code>state.dir</code> is not set";
    if (!of.upkeep.state_saved) return "not saved yet";
    return ago_html(of, *of.upkeep.state_saved);
}

constexpr std::string_view links =
    "<ul class=\"links\">\n"
    "<li><a href=\"config\">configuration</a> in force, without secrets</li>\n"
    "<li><a href=\"stats\">stats</a>: all figures as JSON; <a href=\"stats?limit=10\">those that matter most</a></li>\n"
    "<li><a href=\"metrics\">metrics</a> for Prometheus</li>\n"
    "<li><a href=\"api/v1/findings\">findings</a>, <a href=\"api/v1/top\">top</a> and "
    "<a href=\"api/v1/refused\">refused series</a>, <a href=\"api/v1/suggestions\">suggested limits</a> as JSON</li>\n"
    "<li><a href=\"-/healthy\">health</a>: whether the process serves; <a href=\"-/ready\">readiness</a>: whether to "
    "send to it</li>\n"
    "<li>what each part of this page means: <code>docs/operation.md</code>; what to do when an alert fires: "
    "<code>docs/runbook.md</code>; in a package below <code>/usr/share/doc/seriesgate</code></li>\n"
    "</ul>\n";

/// One window, with the room reserved for carried-over series.
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

/// In thousandths, the width of the bar.
std::uint64_t part_of(std::uint64_t count, std::uint64_t whole) {
    if (whole == 0) return 0;
    return std::min<std::uint64_t>(
        1'000, static_cast<std::uint64_t>(1'000.0 * static_cast<double>(count) / static_cast<double>(whole)));
}

/// A bar of used and reserved room. The text beside it says the same.
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

std::string refused_html(const status_facts& of, const window_figures& window) {
    const std::string count = count_text(window.series_refused, window.refused_is_exact);
    const bool is_bad = window.series_refused > 0 && of.figures.mode == limit_mode::enforce;
    return is_bad ? fmt::format("<strong class=\"bad\">{}</strong>", count) : count;
}

/// The beginning of a card.
std::string card_html(std::string_view name, const shown_window& window) {
    return fmt::format("<div class=\"card\">\n<h3>{}</h3>\n<p class=\"count\">{}</p>\n", name, count_html(window)) +
           bar_html(window);
}

/// @param whose owner of the limits.
std::string window_html(const status_facts& of, std::string_view name, std::string_view whose,
                        const shown_window& window) {
    const bool observes = of.figures.mode == limit_mode::observe;  // then the window counts for the global limit alone
    const std::string refused =
        observes ? "would be refused by the global limit" : fmt::format("refused by the {}&#39;s limits", whose);
    const auto end = window.counted.span.end;
    return card_html(name, window) + "<dl>\n" +
           (observes && !window.is_limited() ? "" : term_html(refused, refused_html(of, window.counted))) +
           term_html("kept for known series", grouped(window.reserved)) +
           term_html("room for new series",
                     window.is_limited() ? grouped(window.left() - window.reserved) : "not limited") +
           term_html("resets at", fmt::format("{}, in {}", moment_html(end),
                                              duration_text(std::max(std::chrono::seconds{0}, end - of.now)))) +
           "</dl>\n</div>\n";
}

/// Empty if active series are not counted.
std::string active_html(const status_facts& of) {
    if (!of.figures.active) return {};
    const shown_window window{*of.figures.active, {}};
    const char* const refused = of.figures.mode == limit_mode::observe ? "would be refused" : "refused";
    return card_html("Active", window) + "<dl>\n" +
           term_html(fmt::format("{} this hour by limits of active series", refused),
                     refused_html(of, window.counted)) +
           term_html("room for new series", window.is_limited() ? grouped(window.left()) : "not limited") +
           term_html("idle after", duration_text(of.figures.active_window)) + "</dl>\n</div>\n";
}

}  // namespace

std::string stores_section(const status_facts& of) {
    return section_html("stores", "Stores", backends_html(of) + fleet_html(of));
}

std::string upkeep_section(const status_facts& of) {
    const std::string terms =
        term_html("version", escaped(of.process.version)) + term_html("up for", duration_text(of.process.uptime)) +
        term_html("configuration",
                  ago_html(of, of.upkeep.config_taken_over) +
                      (of.upkeep.reload_successful ? "" : "; <strong>the last reload failed</strong>")) +
        term_html("state saved", state_html(of)) +
        term_html("connections",
                  grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(0, of.counts.connections.open)))) +
        term_html("requests", grouped(of.counts.requests.total)) +
        term_html("samples", fmt::format("{} received, {} stored", grouped(of.counts.samples.received),
                                         grouped(of.counts.samples.stored)));
    return section_html(
        "upkeep", "This gate",
        "<div class=\"cards\">\n<dl class=\"card\">\n" + terms + "</dl>\n" + std::string{links} + "</div>\n");
}

std::string windows_section(const status_facts& of) {
    return section_html("windows", "Series",
                        "<div class=\"cards\">\n" +
                            window_html(of, "This hour", "hour", {of.figures.hourly, of.figures.global.hourly}) +
                            window_html(of, "Today", "day", {of.figures.daily, of.figures.global.daily}) +
                            active_html(of) + minutes_chart(of) + hours_chart(of) + "</div>\n");
}

}  // namespace seriesgate
