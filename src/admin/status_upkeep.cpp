#include <fmt/format.h>

#include <string>

#include "admin/html_text.hpp"
#include "admin/status_sections.hpp"

namespace seriesgate {
namespace {

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

}  // namespace

std::string upkeep_section(const status_facts& of) {
    return "<section id=\"upkeep\" data-part aria-labelledby=\"upkeep-title\">\n<h2 id=\"upkeep-title\">This "
           "gate</h2>\n"
           "<div class=\"cards\">\n<dl class=\"card\">\n" +
           term_html("version", escaped(of.process.version)) + term_html("up for", duration_text(of.process.uptime)) +
           term_html("configuration",
                     ago_html(of, of.upkeep.config_taken_over) +
                         (of.upkeep.reload_successful ? "" : "; <strong>the last reload failed</strong>")) +
           term_html("state saved", state_html(of)) +
           term_html("connections",
                     grouped(static_cast<std::uint64_t>(std::max<std::int64_t>(0, of.counts.connections.open)))) +
           term_html("requests", grouped(of.counts.requests.total)) +
           term_html("samples", fmt::format("{} received, {} stored", grouped(of.counts.samples.received),
                                            grouped(of.counts.samples.stored))) +
           "</dl>\n" + std::string{links} + "</div>\n</section>\n";
}

}  // namespace seriesgate
