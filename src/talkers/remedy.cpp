#include "talkers/remedy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/control_characters.hpp"
#include "core/utf8.hpp"

namespace seriesgate {
namespace {

/// What a regular expression of Prometheus matches in place of `#` of a pattern.
constexpr std::string_view any_number = "[0-9a-fA-F]+";
/// Enough for what has no label too many.
constexpr std::uint64_t limit_min = 1'000;
constexpr std::size_t name_max = 60;

/// Nobody should paste what does not look like what it is: control characters, marks of direction.
bool is_plain(std::string_view text) {
    if (text.empty()) return false;
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0 || is_control_character(text.substr(0, size))) return false;
        text.remove_prefix(size);
    }
    return true;
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// A scalar of YAML.
std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) out.append(c == '\'' ? 2 : 1, c);
    return out + "'";
}

/// A string of a selector.
std::string in_double_quotes(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view{R"(\.+*?()|[]{}^$)"}.find(c) != std::string_view::npos) out += '\\';
        out += c;
    }
    return out;
}

std::string regex_of_pattern(std::string_view pattern) {
    std::string out;
    for (const char c : pattern) out += c == '#' ? std::string{any_number} : escaped({&c, 1});
    return out;
}

std::string regex_of(const finding& found) {
    if (found.what == explosion::metric_names) return regex_of_pattern(found.metrics.front());
    std::string out;
    for (const std::string& each : found.metrics)
        if (is_plain(each)) out.append(out.empty() ? "" : "|").append(escaped(each));
    return out;
}

std::string limit_name_of(const finding& found) {
    std::string out;
    for (const char c : found.metrics.front().substr(0, name_max)) out += is_name_character(c) ? c : '-';
    return out;
}

/// Of one that is in many metrics.
remedy remedy_of_label(const finding& found) {
    if (found.label.empty() || !std::ranges::all_of(found.label, is_name_character)) return {};
    return {.relabel = fmt::format("- regex: {}\n  action: labeldrop\n", found.label),
            .limit = fmt::format("limits:\n  - name: {}\n    match: '{{{}!=\"\"}}'\n    maxHourlySeries: {}\n",
                                 found.label, found.label, limit_min)};
}

}  // namespace

remedy remedy_of(const finding& found) {
    if (found.what == explosion::tenants) return {};  // no rule of a sender's says whose a request is
    if (found.metrics.empty()) return remedy_of_label(found);
    const std::string regex = regex_of(found);
    if (!is_plain(regex)) return {};
    remedy made;
    const bool drops_label = found.what == explosion::label;
    const bool is_sayable = std::ranges::all_of(found.label, is_name_character);
    if (!drops_label || is_sayable) {
        made.relabel = fmt::format("- source_labels: [__name__]\n  regex: {}\n", in_quotes(regex));
        made.relabel += drops_label ? fmt::format("  target_label: {}\n  replacement: ''\n", found.label)
                                    : std::string{"  action: drop\n"};
    }
    const std::uint64_t of_value = found.series / std::max<std::uint64_t>(found.values.values, 1);
    made.limit = fmt::format("limits:\n  - name: {}\n    match: {}\n    maxHourlySeries: {}\n", limit_name_of(found),
                             in_quotes(fmt::format("{{__name__=~{}}}", in_double_quotes(regex))),
                             std::max(limit_min, 2 * of_value));
    if (!found.tenant.empty()) made.limit += "    perTenant: true\n";
    return made;
}

}  // namespace seriesgate
