#include <fmt/format.h>

#include <cstddef>
#include <string>

#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"

namespace seriesgate {
namespace {

/// Of backends and of gates: more are on /stats.
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
    return "<div class=\"box\" id=\"stores-box\" tabindex=\"0\" role=\"region\" "
           "aria-labelledby=\"stores-title\">\n<table "
           "aria-labelledby=\"stores-title\">\n<thead><tr><th scope=\"col\" class=\"left\">address</th><th "
           "scope=\"col\" "
           "class=\"left\">what</th><th scope=\"col\" class=\"left\">state</th><th scope=\"col\">in flight</th><th "
           "scope=\"col\">connections</th><th scope=\"col\">requests</th><th scope=\"col\">without answer</th></tr>"
           "</thead>\n<tbody>\n" +
           rows + "</tbody>\n</table>\n</div>\n";
}

std::string fleet_html(const status_facts& of) {
    if (!of.counts.shared) return {};
    const shared_counts& shared = *of.counts.shared;
    std::string out = fmt::format(
        "<h3>Gates that count together in {}: {}</h3>\n<div class=\"box\">\n<table>\n<thead><tr><th scope=\"col\" "
        "class=\"left\">gate"
        "</th><th scope=\"col\" class=\"left\">version</th><th scope=\"col\">seen</th></tr></thead>\n<tbody>\n",
        name_html(shared.name_space, store_name_bytes_max), escaped(shared.state));
    for (std::size_t i = 0; i < shared.gates.size() && i < rows_max; ++i) {
        const fleet_gate_counts& gate = shared.gates[i];
        out += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"left\">{}</td><td>{} ago</td></tr>\n",
                           name_html(gate.name, store_name_bytes_max), name_html(gate.version, 40),
                           duration_text(std::chrono::seconds{gate.seen_seconds_ago}));
    }
    return out + "</tbody>\n</table>\n</div>\n";
}

}  // namespace

std::string stores_section(const status_facts& of) {
    return "<section id=\"stores\" data-part aria-labelledby=\"stores-title\">\n<h2 id=\"stores-title\">Stores</h2>\n" +
           backends_html(of) + fleet_html(of) + "</section>\n";
}

}  // namespace seriesgate
