#include "admin/formatting.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <utility>

namespace seriesgate {

namespace json = boost::json;

boost::json::object group_json(const group_labels& group) {
    boost::json::object made;
    for (const auto& [label, value] : group) made[label] = value;
    return made;
}

boost::json::object window_json(const budget_window_figures& window) {
    return {{"maxSeries", window.series_max},
            {"currentSeries", window.series_current},
            {"refusedSeries", window.series_refused},
            {"refusedSeriesExact", window.refused_is_exact}};
}

std::string utc(std::chrono::sys_time<std::chrono::nanoseconds> moment) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(moment));
}

std::string success_json(json::value data, std::string_view warning) {
    json::object made{{"status", "success"}};
    made["data"] = std::move(data);
    if (!warning.empty()) made["warnings"] = json::array{warning};
    return json::serialize(made) + "\n";
}

std::string error_json(std::string_view type, std::string_view error) {
    return json::serialize(json::object{{"status", "error"}, {"errorType", type}, {"error", error}}) + "\n";
}

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        if (c == '&')
            out += "&amp;";
        else if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '"')
            out += "&quot;";
        else if (c == '\'')
            out += "&#39;";
        else if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    return out;
}

std::string cut(std::string_view text, std::size_t bytes_max) {
    return without_middle(text, {.head = bytes_max - bytes_max / 3, .tail = bytes_max / 3}, "…");
}

std::string name_html(std::string_view name, std::size_t bytes_max) {
    constexpr std::size_t unbroken_max = 32;  // characters
    const std::string shown = cut(name, bytes_max);
    std::string out = "<bdi>";
    std::size_t begin = 0, unbroken = 0;
    for (std::size_t at = 0; at < shown.size(); ++at) {
        if (at > begin && !continues_character(shown[at]) && (shown[at - 1] == '_' || unbroken >= unbroken_max)) {
            out.append(escaped(std::string_view{shown}.substr(begin, at - begin))).append("<wbr>");
            begin = at;
            unbroken = 0;
        }
        if (shown[at] == ' ')
            unbroken = 0;
        else if (!continues_character(shown[at]))
            ++unbroken;
    }
    return out + escaped(std::string_view{shown}.substr(begin)) + "</bdi>";
}

std::string section_html(std::string_view id, std::string_view title, std::string_view content) {
    return fmt::format(
        "<section id=\"{0}\" data-part aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}</section>\n",
        id, title, content);
}

std::string term_html(std::string_view term, std::string_view description) {
    return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", term, description);
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

std::string moment_html(std::chrono::sys_seconds moment) {
    return fmt::format("<time datetime=\"{0}\" title=\"{0}\">{1:%H:%M} UTC</time>", utc(moment), fmt::gmtime(moment));
}

}  // namespace seriesgate
