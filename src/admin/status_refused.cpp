#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "admin/html_text.hpp"
#include "admin/json_text.hpp"
#include "admin/status_sections.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t series_shown_max = 20;
constexpr std::size_t series_bytes_max = 300;
/// Of the link to a series whose labels are too long to show.
constexpr std::size_t linked_labels_max = 5;
constexpr std::size_t linked_bytes_max = 64;
/// Of the link to a series' explanation.
constexpr std::size_t asked_bytes_max = 400;

bool is_plain_name(std::string_view text) {
    return !text.empty() && text.size() <= linked_bytes_max && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }) && !(text.front() >= '0' && text.front() <= '9');
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

bool is_plain_value(std::string_view text) {
    return text.size() <= linked_bytes_max && is_printable(text) &&
           text.find_first_of("\"\\") == std::string_view::npos;
}

std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (is_plain)
            out += c;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

/// Where all of its labels are: by those that are short.
std::string whole_link(const refused_series& one) {
    std::string match;
    std::size_t named = 0;
    for (const auto& [name, value] : one.labels) {
        if (!is_plain_name(name) || !is_plain_value(value) || value.empty() || named == linked_labels_max) continue;
        match += fmt::format("{}{}=\"{}\"", named++ == 0 ? "" : ",", name, value);
    }
    if (match.empty()) return "api/v1/refused?limit=1000";
    return "api/v1/refused?limit=10&match=" + percent_encoded("{" + match + "}");
}

/// What would be decided about it now, and why. Empty for one with labels that no question can have.
std::string why_link(const refused_series& one) {
    std::string series;
    for (const auto& [name, value] : one.labels) {
        if (!is_plain_name(name) || !is_printable(value)) return {};
        series.append(series.empty() ? "{" : ",").append(name).append("=\"");
        for (const char c : value) series.append(c == '"' || c == '\\' ? "\\" : "").append(1, c);
        series += '"';
    }
    if (one.is_cut || series.empty() || series.size() > asked_bytes_max || !is_printable(one.tenant)) return {};
    std::string link = "api/v1/explain?series=" + percent_encoded(series + "}");
    return one.tenant.empty() ? link : link + "&tenant=" + percent_encoded(one.tenant);
}

std::string why_html(const refused_series& one) {
    const std::string reason = escaped(cut(reason_of(one), 200)), link = why_link(one);
    return link.empty() ? reason : fmt::format("{} <a class=\"why\" href=\"{}\">explain</a>", reason, escaped(link));
}

std::string series_html(const refused_series& one) {
    std::vector<label_view> labels;
    labels.reserve(one.labels.size());
    std::size_t bytes = 0;
    for (const auto& [name, value] : one.labels) {
        labels.push_back({name, value});
        bytes += name.size() + value.size() + 4;
    }
    const std::string shown = fmt::format("<code><bdi>{}</bdi></code>", escaped(to_text(labels, series_bytes_max)));
    if (bytes <= series_bytes_max) return shown;
    return shown + fmt::format(" <a href=\"{}\">all labels</a>", escaped(whole_link(one)));
}

std::string row_html(const refused_series& one) {
    const auto when = std::chrono::floor<std::chrono::seconds>(one.when);
    return fmt::format(
        "<tr><td><time datetime=\"{}\">{:%H:%M:%S}</time></td><td>{}</td><td>{}</td><td>{} <span "
        "class=\"quiet\">{}</span></td><td>{}</td></tr>\n",
        utc(when), fmt::gmtime(std::chrono::system_clock::to_time_t(when)), series_html(one),
        name_html(readable(one.tenant), 40), name_html(readable(one.sender), 40), name_html(readable(one.agent), 40),
        why_html(one));
}

}  // namespace

std::string refused_section(const status_facts& of) {
    std::string out =
        "<section id=\"refused\" data-part aria-labelledby=\"refused-title\">\n"
        "<h2 id=\"refused-title\">Series that were refused last</h2>\n";
    if (of.refused.empty()) return out + "<p>None since the gate was started.</p>\n</section>\n";
    const std::size_t shown = std::min(of.refused.size(), series_shown_max);
    out += fmt::format(
        "<p class=\"quiet\">{} of the last {}, the newest first; <a href=\"api/v1/refused?limit=1000\">all of them, "
        "as JSON</a>.</p>\n"
        "<div class=\"box\" id=\"refused-box\" tabindex=\"0\" role=\"region\" aria-labelledby=\"refused-title\">\n"
        "<table class=\"series\" aria-labelledby=\"refused-title\">\n"
        "<thead><tr><th scope=\"col\">UTC</th><th scope=\"col\">series</th><th scope=\"col\">tenant</th>"
        "<th scope=\"col\">sender</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
        shown, grouped(of.refused.size()));
    for (std::size_t i = 0; i < shown; ++i) out += row_html(*of.refused[i]);
    return out + "</tbody>\n</table>\n</div>\n</section>\n";
}

}  // namespace seriesgate
