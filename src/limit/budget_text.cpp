#include "limit/budget_text.hpp"

#include <vector>

#include "series/label.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t group_bytes_max = 256;

/// @param readable its backslashes are escapes already, see readable().
void append_escaped(std::string& out, std::string_view readable) {
    for (const char c : readable) {
        if (c == '"') out += '\\';
        out += c;
    }
}

}  // namespace

std::string to_text(const spent_budget& spent) {
    const bool hourly = spent.window == refusing_window::hourly;
    const budget_window_figures& window = hourly ? spent.figures.hourly : spent.figures.daily;
    const std::string whose = owner_text(spent.figures.name);
    std::string text = whose + (whose.empty() ? "" : ": ") + (hourly ? "maxHourlySeries " : "maxDailySeries ");
    text.append(std::to_string(window.series_max)).append(" is spent (");
    return text.append(std::to_string(window.series_current)).append(" series admitted)");
}

std::string owner_text(const budget_name& name) {
    std::string text;
    if (!name.limit.empty()) text = "limit " + name.limit + cut_group_text(name);
    if (name.has_tenant)
        text.append(text.empty() ? "" : " of ").append("tenant ").append(seriesgate::quoted(name.tenant));
    return text;
}

std::string cut_group_text(const budget_name& name) {
    std::vector<label_view> labels;
    for (const auto& [label, value] : name.group) labels.push_back({label, value});
    return labels.empty() ? std::string{} : to_text(labels, group_bytes_max);
}

std::string group_text(const budget_name& name) {
    std::string text;
    for (const auto& [label, value] : name.group) {
        text += text.empty() ? '{' : ',';
        append_escaped(text, label);
        text += "=\"";
        append_escaped(text, value);
        text += '"';
    }
    if (!text.empty()) text += '}';
    return text;
}

std::string_view note_on(const budget_name& name) noexcept {
    if (!name.overflow) return {};
    if (name.limit.empty())
        return "shared by all tenants beyond tenants.maxTenants: raise it, or give those that matter an override";
    return "shared by all groups beyond maxGroups of the limit: raise it, or limit by a label with fewer values";
}

std::string_view to_text(refusing_window window) noexcept {
    return window == refusing_window::hourly ? "hourly" : "daily";
}

std::string_view to_text(limit_mode mode) noexcept {
    return mode == limit_mode::observe ? "observe" : "enforce";
}

}  // namespace seriesgate
