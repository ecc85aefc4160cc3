/// Types of single values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/units.hpp"
#include "config/value_type.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

/// Both ends belong to it.
template <typename Value>
struct range {
    Value min;
    Value max;
};

/// @param more_advice behind what is wrong.
value_type<std::uint64_t> counts(range<std::uint64_t> bounds, std::string_view more_advice = "");
/// How many series, 0 for any number.
value_type<std::uint64_t> series_counts();
/// Tenants or groups with a budget of their own.
value_type<std::uint64_t> budget_counts();
value_type<std::uint64_t> sizes(range<std::uint64_t> bounds);
value_type<std::chrono::milliseconds> durations(range<std::chrono::milliseconds> bounds);
value_type<std::chrono::seconds> whole_seconds(range<std::chrono::milliseconds> bounds);
value_type<std::chrono::minutes> whole_minutes(range<std::chrono::milliseconds> bounds);
value_type<double> rates(range<double> bounds);
/// From 0% on.
value_type<percentage> percentages(percentage max);
value_type<bool> flags();

/// One of a few words.
template <typename Value>
value_type<Value> one_of(std::string type_name, const std::vector<std::pair<std::string, Value>>& choices);

value_type<limit_mode> modes();
value_type<limit_answer> answers();

/// Any text. @param wrong_with returns what is wrong with one, or an empty string.
value_type<std::string> texts(std::string type_name, std::string bounds,
                              std::function<std::string(std::string_view)> wrong_with);
/// The same, which may change it. @param assign as value_type::assign.
value_type<std::string> texts_by(std::string type_name, std::string bounds,
                                 std::function<std::string(std::string_view text, std::string& target)> assign);
/// A path for the operating system; may be empty.
value_type<std::string> paths();
/// Without spaces or control characters; may be empty.
value_type<std::string> words();
/// The name of a label: not empty, UTF-8.
value_type<std::string> label_names();
value_type<selector> selectors();

/// What is wrong with the name of an HTTP header that names the tenant: it has to go on to the store.
std::string wrong_with_tenant_header(std::string_view name);
/// What is wrong with a header's name that requests to a store are to have. Not allowed are those that end at every
/// hop, and those that say what the body is or that the gate makes itself.
std::string wrong_with_header(std::string_view name);
/// What is wrong with what a header says, without the value.
std::string wrong_with_header_value(std::string_view text);
bool has_control_character(std::string_view text) noexcept;

/// " is none of a, b and c".
std::string none_of(const std::vector<std::string>& words);

template <typename Value>
value_type<Value> one_of(std::string type_name, const std::vector<std::pair<std::string, Value>>& choices) {
    type_description about = described(std::move(type_name), "", "");
    std::vector<std::string> words;
    for (const auto& [word, value] : choices) {
        about.bounds += (words.empty() ? "`" : word == choices.back().first ? " or `" : ", `") + word + "`";
        const bool is_text = !is_digits(word) && word != "true" && word != "false";  // to YAML
        about.schema += (words.empty() ? "\"enum\":[\"" : ",\"") + word + "\"" + (is_text ? "" : "," + word);
        words.push_back(word);
    }
    about.schema += "]";
    return scalar_type<Value>(
        about,
        [choices, words](std::string_view text, Value& target) -> std::string {
            const auto found = std::ranges::find(choices, text, &std::pair<std::string, Value>::first);
            if (found == choices.end()) return in_quotes(text) + none_of(words);
            target = found->second;
            return "";
        },
        [choices](const Value& value) {
            return std::ranges::find(choices, value, &std::pair<std::string, Value>::second)->first;
        });
}

}  // namespace seriesgate
