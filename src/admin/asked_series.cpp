#include "admin/asked_series.hpp"

#include "series/label.hpp"
#include "series/selector.hpp"

namespace seriesgate {
namespace {

/// Of a name, in an answer.
constexpr std::size_t shown_bytes_max = 64;

std::string shown(std::string_view name) {
    return quoted(bytes_view{name}.substr(0, shown_bytes_max));
}

}  // namespace

result<series_labels, std::string> read_series(std::string_view text) {
    const auto parsed = parse_selector(text);
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

std::vector<label_view> views_of(const series_labels& labels) {
    std::vector<label_view> views;
    views.reserve(labels.size());
    for (const auto& [name, value] : labels) views.push_back({name, value});
    return views;
}

}  // namespace seriesgate
