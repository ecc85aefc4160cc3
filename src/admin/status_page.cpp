#include "admin/status_page.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "admin/formatting.hpp"
#include "limit/explain.hpp"

namespace seriesgate {
namespace {

/// The icon in the browser's tab: a gate, red when it refuses.
std::string icon_html(bool withholds) {
    return fmt::format(
        "<link id=\"icon\" rel=\"icon\" href=\"data:image/svg+xml,%3Csvg xmlns=%27http://www.w3.org/2000/svg%27 "
        "viewBox=%270 0 16 16%27%3E%3Cpath fill=%27%23{}%27 d=%27M1 2h3v12H1zM12 2h3v12h-3z{}%27/%3E%3C/svg%3E\">\n",
        withholds ? "c0271d" : "0f6e84", withholds ? "M4 4h8v2H4zM4 9h8v2H4z" : "");
}

std::string head_html(const status_facts& of) {
    return "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
           std::string{is_withholding(of) ? "! seriesgate withholds" : "seriesgate"} + "</title>\n" +
           icon_html(is_withholding(of)) + "<style>" + std::string{page_style} + "</style>\n<script type=\"module\">" +
           std::string{page_script} + "</script>\n</head>\n";
}

std::string banner_html(const status_facts& of) {
    return fmt::format(
        "<body>\n<a class=\"skip\" href=\"#main\">To the figures</a>\n<header>\n<h1>seriesgate <small>{}</small></h1>\n"
        "<p id=\"mode\" data-part class=\"mode\">mode: {}</p>\n"
        "<p id=\"as-of\" data-part class=\"quiet\">up for {}, as of <time datetime=\"{}\">{:%Y-%m-%d %H:%M:%S} "
        "UTC</time></p>\n"
        "<p id=\"lost\" class=\"lost\" hidden></p>\n<p id=\"said\" class=\"unseen\" role=\"status\"></p>\n</header>\n",
        escaped(of.process.version), to_text(of.figures.mode), duration_text(of.process.uptime), utc(of.now),
        fmt::gmtime(of.now));
}

/// Hidden without a script.
constexpr std::string_view explain_html =
    "<section id=\"explain\" hidden aria-labelledby=\"explain-title\">\n<h2 id=\"explain-title\">Would this series "
    "be admitted?</h2>\n<form id=\"explain-form\" class=\"row\" role=\"search\">\n"
    "<label class=\"long\">Series <input id=\"explain-series\" type=\"search\" autocomplete=\"off\" "
    "spellcheck=\"false\" placeholder=\"up{job=&quot;node&quot;}\"></label>\n"
    "<label>Tenant <input id=\"explain-tenant\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></label>\n"
    "<button>Explain</button>\n</form>\n<div id=\"explain-answer\" role=\"status\"></div>\n</section>\n";

}  // namespace

std::string status_html(const status_facts& facts) {
    return head_html(facts) + banner_html(facts) + "<main id=\"main\" tabindex=\"-1\">\n" + now_section(facts) +
           windows_section(facts) + top_section(facts) + budgets_section(facts) + std::string{explain_html} +
           refused_section(facts) + stores_section(facts) + upkeep_section(facts) + "</main>\n</body>\n</html>\n";
}

const std::string& status_policy() {
    static const std::string made = fmt::format(
        "default-src 'none'; style-src '{}'; script-src '{}'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        page_style_hash, page_script_hash);
    return made;
}

}  // namespace seriesgate
