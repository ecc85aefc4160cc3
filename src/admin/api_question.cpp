#include "admin/api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/text.hpp"
#include "http/query_string.hpp"
#include "http/route_table.hpp"
#include "limit/rules.hpp"
#include "series/selector.hpp"

namespace seriesgate {
namespace {

constexpr std::size_t shown_bytes_max = 64;
constexpr std::uint64_t top_shown = 10, refused_shown = 100, suggestions_shown = 100;
constexpr std::size_t question_selector_bytes_max = 4096;

std::string shown(std::string_view name) {
    return quoted_text(bytes_view{name}.substr(0, shown_bytes_max));
}

/// Reads one argument. @return the error, or nothing.
using reader = std::string (*)(std::string_view value, std::span<const std::string> labels, api_question& into);

std::string read_limit(std::string_view value, std::span<const std::string>, api_question& into) {
    into.shown_max = whole_number<std::uint64_t>(value).value_or(api_shown_max + 1);
    if (into.shown_max <= api_shown_max) return {};
    return fmt::format("limit: expected a whole number up to {}", api_shown_max);
}

std::string read_any_limit(std::string_view value, std::span<const std::string>, api_question& into) {
    const auto number = whole_number<std::uint64_t>(value);
    if (!number) return "limit: expected a whole number, how many entries each list may have";
    into.shown_max = *number;
    return {};
}

std::string read_window(std::string_view value, std::span<const std::string>, api_question& into) {
    if (value != "hourly" && value != "daily") return "window: expected hourly or daily";
    into.window = value == "hourly" ? cardinality_window::hourly : cardinality_window::daily;
    return {};
}

std::string read_kind(std::string_view value, std::span<const std::string>, api_question& into) {
    if (value != "new" && value != "refused") return "kind: expected new or refused";
    into.kind = value == "new" ? series_event::newly_admitted : series_event::refused;
    return {};
}

std::string read_by(std::string_view value, std::span<const std::string> labels, api_question& into) {
    constexpr std::array<std::string_view, 4> own{"metric", "label", "sender", "tenant"};
    into.by = value;
    if (std::ranges::find(own, value) != own.end() || std::ranges::find(labels, value) != labels.end()) return {};
    return fmt::format("by: expected metric, label, sender, tenant or one of the counted labels: {}",
                       fmt::join(labels, ", "));
}

std::string read_tenant(std::string_view value, std::span<const std::string>, api_question& into) {
    if (value.size() > group_key_bytes_max)
        return fmt::format("tenant: expected a name of at most {} bytes", group_key_bytes_max);
    into.tenant = value;
    return {};
}

std::string read_match(std::string_view value, std::span<const std::string>, api_question& into) {
    if (value.size() > question_selector_bytes_max)
        return fmt::format("match: expected a selector of at most {} bytes", question_selector_bytes_max);
    const auto parsed = parse_selector(value, question_bounds);
    if (!parsed) return "match: " + to_string(parsed.error());
    into.match = value;
    return {};
}

std::string read_asked_series(std::string_view value, std::span<const std::string>, api_question& into) {
    const auto labels = read_series(value);
    if (!labels) return "series: " + labels.error();
    into.series = value;
    return {};
}

std::string read_name(std::string_view value, std::span<const std::string>, api_question& into) {
    if (value.empty() || value.size() > limit_name_bytes_max)
        return fmt::format("name: expected the name of one of limits, of at most {} bytes", limit_name_bytes_max);
    into.name = value;
    return {};
}

struct argument {
    std::string_view name;
    reader read;
};

std::vector<argument> arguments_of(api_path path) {
    switch (path) {
        case api_path::top:
            return {{"by", read_by},
                    {"window", read_window},
                    {"kind", read_kind},
                    {"tenant", read_tenant},
                    {"limit", read_limit}};
        case api_path::findings:
            return {{"window", read_window}, {"tenant", read_tenant}, {"limit", read_limit}};
        case api_path::explain:
            return {{"series", read_asked_series}, {"tenant", read_tenant}};
        case api_path::suggestions:
            return {{"tenant", read_tenant}, {"name", read_name}, {"limit", read_limit}};
        case api_path::stats:
            return {{"limit", read_any_limit}, {"tenant", read_tenant}, {"name", read_name}};
        case api_path::refused:
        case api_path::metrics:
        case api_path::status:
            break;
    }
    return {{"match", read_match}, {"tenant", read_tenant}, {"limit", read_limit}};
}

std::uint64_t usually_shown(api_path path) {
    if (path == api_path::stats) return budget_choice{}.shown_max;
    if (path == api_path::suggestions) return suggestions_shown;
    return path == api_path::refused ? refused_shown : top_shown;
}

std::string fault(std::string_view what, api_path path) {
    constexpr std::string_view each_once = "each once at most and percent-encoded";
    if (path == api_path::stats)
        return fmt::format("{}; /stats takes limit=N, tenant=NAME and name=NAME of a limit, {}", what, each_once);
    std::vector<std::string_view> names;
    for (const argument& each : arguments_of(path)) names.push_back(each.name);
    return fmt::format("{}; possible are {}, {}", what, fmt::join(names, ", "), each_once);
}

}  // namespace

result<series_labels, std::string> read_series(std::string_view text) {
    const auto parsed = parse_selector(text, question_bounds);
    if (!parsed) return to_string(parsed.error());
    series_labels made;
    for (const label_matcher& each : parsed->matchers()) {
        if (each.op != match_op::equal)
            return "one series is asked for, so every label needs an '=', and " + shown(each.name) +
                   " has another sign";
        if (!made.empty() && made.back().first == each.name) return "the label " + shown(each.name) + " has two values";
        made.emplace_back(each.name, each.value);
    }
    return made;
}

bool api_question::is_part() const {
    return path > api_path::status || choice_of(*this) != budget_choice{};
}

budget_choice choice_of(const api_question& asked) {
    budget_choice choice{.shown_max = asked.shown_max, .tenant = {}, .limit = asked.name};
    if (asked.tenant) choice.tenant = readable(*asked.tenant);
    return choice;
}

result<api_question, std::string> read_api_question(api_path path, std::string_view query,
                                                    std::span<const std::string> labels) {
    const std::vector<argument> possible = arguments_of(path);
    const auto arguments = read_arguments(query);
    if (!arguments) return fault("the query has a ';', a '#', or a '%' without two hexadecimal digits behind it", path);
    api_question asked{.path = path, .shown_max = usually_shown(path)};
    std::set<std::string_view> seen;
    for (const query_argument& each : *arguments) {
        const auto found = std::ranges::find(possible, std::string_view{each.name}, &argument::name);
        if (found == possible.end())
            return fault(
                "unknown argument " + quoted_text(std::string_view{each.name}.substr(0, argument_name_shown_bytes_max)),
                path);
        if (!seen.insert(each.name).second) return fault(each.name + ": comes twice", path);
        if (const std::string wrong = found->read(each.value, labels, asked); !wrong.empty()) return fault(wrong, path);
    }
    if (path == api_path::explain && asked.series.empty())
        return fault("series: is required, as in series={__name__=\"up\",job=\"a\"}", path);
    return asked;
}

}  // namespace seriesgate
