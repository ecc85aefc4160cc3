#include "config/scalars.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <span>

#include "core/text.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

// RFC 9110, 5.6.2: tchar.
constexpr std::string_view header_name_characters =
    "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// Those that no proxy passes on, in lower case. RFC 9110, 7.6.1, and what frames a message.
constexpr std::array<std::string_view, 11> headers_of_one_hop{
    "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
    "te",         "trailer",    "upgrade",          "transfer-encoding",  "content-length",
    "expect"};

// Those that the gate makes, or that say what the body or the answer is, in lower case.
constexpr std::array<std::string_view, 3> headers_of_ours{"via", "accept-encoding",
                                                          "x-prometheus-remote-write-version"};
constexpr std::string_view headers_of_the_body = "content-";

constexpr std::string_view count_schema =
    R"("type":["integer","string"],"pattern":"^[0-9][0-9_]*([.][0-9]+)?([kKMG]|[eE][+]?[0-9]+)?$")";
constexpr std::string_view text_schema = R"("type":["string","number","boolean"])";

bool is_one_of(std::span<const std::string_view> names, std::string_view text) {
    return std::ranges::any_of(names, [text](std::string_view name) { return equal_ignoring_case(text, name); });
}

bool is_header_name(std::string_view name) noexcept {
    return !name.empty() && name.find_first_not_of(header_name_characters) == std::string_view::npos;
}

std::string between(const std::string& min, const std::string& max) {
    return "`" + min + "` to `" + max + "`";
}

struct words_of_bounds {
    std::string less;      ///< "short"
    std::string more;      ///< "long"
    std::string expected;  ///< "a duration such as 25s"
    std::string advice{};  ///< behind what is wrong
    std::string unit{};    ///< that a mere number lacks; empty: none
};

template <typename Value>
value_type<Value> bounded(type_description about, range<Value> bounds, const words_of_bounds& words,
                          std::optional<Value> (*parse)(std::string_view), std::string (*show)(Value)) {
    assert(bounds.min < bounds.max);
    const auto assign = [=](std::string_view text, Value& target) -> std::string {
        if (text.starts_with('-') && parse(text.substr(1))) return in_quotes(text) + " is negative" + words.advice;
        const auto read = parse(text);
        if (!read && !words.unit.empty() && is_digits(text))
            return in_quotes(text) + " has no unit: write " + std::string{text} + words.unit;
        if (!read) return in_quotes(text) + " is not " + words.expected + words.advice;
        if (*read < bounds.min) return in_quotes(text) + " is too " + words.less + ", at least " + show(bounds.min);
        if (*read > bounds.max) return in_quotes(text) + " is too " + words.more + ", at most " + show(bounds.max);
        target = *read;
        return "";
    };
    return scalar_type<Value>(std::move(about), assign, show);
}

/// @param units in words: `seconds`.
template <class Duration>
value_type<Duration> whole(range<std::chrono::milliseconds> bounds, const std::string& units) {
    const auto any = durations(bounds);
    type_description about = any.about;
    about.bounds += ", whole " + units;
    return scalar_type<Duration>(
        about,
        [any, units](std::string_view text, Duration& target) -> std::string {
            std::chrono::milliseconds value{};
            if (auto wrong = any.assign(text, value); !wrong.empty()) return wrong;
            if (value % Duration{1} != 0ms) return in_quotes(text) + " is not in whole " + units;
            target = std::chrono::duration_cast<Duration>(value);
            return "";
        },
        format_duration);
}

}  // namespace

value_type<std::uint64_t> counts(range<std::uint64_t> bounds, std::string_view more_advice) {
    const std::string min = std::to_string(bounds.min);
    const std::string max = std::to_string(bounds.max);
    return bounded<std::uint64_t>(described("count", min + " to " + max,
                                            std::string{count_schema} + ",\"minimum\":" + min + ",\"maximum\":" + max),
                                  bounds,
                                  {"small", "large", "a whole number such as 5000 or 500k", std::string{more_advice}},
                                  parse_count, std::to_string);
}

// The bound catches slips of the finger; memory (3 bytes a series) runs out long before.
value_type<std::uint64_t> series_counts() {
    return counts({0, 1'000'000'000'000}, "; 0 is no limit");
}

value_type<std::uint64_t> budget_counts() {
    return counts({1, 10'000'000});
}

value_type<std::uint64_t> sizes(range<std::uint64_t> bounds) {
    return bounded<std::uint64_t>(described("size", between(format_size(bounds.min), format_size(bounds.max)),
                                            R"("type":["integer","string"],"pattern":"^[0-9]+([KMG]i?B|[KMG]i|B)?$")"),
                                  bounds, {"small", "large", "a size such as 4096, 512KiB, 32MiB or 1GB"}, parse_size,
                                  format_size);
}

value_type<std::chrono::milliseconds> durations(range<std::chrono::milliseconds> bounds) {
    return bounded<std::chrono::milliseconds>(
        described("duration", between(format_duration(bounds.min), format_duration(bounds.max)),
                  R"("anyOf":[{"const":0},{"type":"string","pattern":"^(0|([0-9]+(d|h|ms|m|s))+)$"}])"),
        bounds, {"short", "long", "a duration such as 500ms, 25s, 10m or 1h30m", "", "s"}, parse_duration,
        format_duration);
}

value_type<std::chrono::seconds> whole_seconds(range<std::chrono::milliseconds> bounds) {
    return whole<std::chrono::seconds>(bounds, "seconds");
}

value_type<std::chrono::minutes> whole_minutes(range<std::chrono::milliseconds> bounds) {
    return whole<std::chrono::minutes>(bounds, "minutes");
}

value_type<double> rates(range<double> bounds) {
    assert(bounds.min < bounds.max);
    const std::string min = format_rate(bounds.min);
    const std::string max = format_rate(bounds.max);
    const auto assign = [=](std::string_view text, double& target) -> std::string {
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error == std::errc::invalid_argument || end != text.data() + text.size())
            return in_quotes(text) + " is not a number such as 0.0001";
        const bool inside = error == std::errc{} && value >= bounds.min && value <= bounds.max;
        if (!inside) return in_quotes(text) + " is not between " + min + " and " + max;
        target = value;
        return "";
    };
    return scalar_type<double>(
        described("number", min + " to " + max, R"("type":"number","minimum":)" + min + R"(,"maximum":)" + max), assign,
        format_rate);
}

value_type<percentage> percentages(percentage max) {
    const auto show = [](percentage value) { return fmt::format("{:g}%", value.hundredths / 100.0); };
    const auto assign = [max, show](std::string_view text, percentage& target) -> std::string {
        const auto hundredths = text.ends_with('%') ? shifted(text.substr(0, text.size() - 1), 2) : std::nullopt;
        if (!hundredths)
            return in_quotes(text) +
                   " is not a percentage such as 5% or 2.25%, with at most two digits behind the point";
        if (*hundredths > max.hundredths) return in_quotes(text) + " is too much, at most " + show(max);
        target.hundredths = static_cast<std::uint32_t>(*hundredths);
        return "";
    };
    return scalar_type<percentage>(
        described("percentage", between("0%", show(max)), R"("type":"string","pattern":"^[0-9]+([.][0-9]{1,2}0*)?%$")"),
        assign, show);
}

value_type<bool> flags() {
    return one_of<bool>("flag", {{"true", true}, {"false", false}});
}

value_type<limit_mode> modes() {
    return one_of<limit_mode>("mode", {{"enforce", limit_mode::enforce}, {"observe", limit_mode::observe}});
}

value_type<limit_answer> answers() {
    return one_of<limit_answer>("answer", {{"drop", limit_answer::drop}, {"reject", limit_answer::reject}});
}

value_type<std::string> texts(std::string type_name, std::string bounds,
                              std::function<std::string(std::string_view)> wrong_with) {
    return texts_by(std::move(type_name), std::move(bounds), [wrong_with](std::string_view text, std::string& target) {
        std::string wrong = wrong_with(text);
        if (wrong.empty()) target = text;
        return wrong;
    });
}

value_type<std::string> texts_by(std::string type_name, std::string bounds,
                                 std::function<std::string(std::string_view text, std::string& target)> assign) {
    return scalar_type<std::string>(described(std::move(type_name), std::move(bounds), text_schema), std::move(assign),
                                    std::identity{});
}

value_type<std::string> paths() {
    return texts("path", "", [](std::string_view text) {
        return text.find('\0') != std::string_view::npos ? in_quotes(text) + " is not a path" : "";
    });
}

value_type<std::string> words() {
    return texts("word", "no spaces", [](std::string_view text) {
        const bool is_word = !has_control_character(text) && text.find(' ') == std::string_view::npos;
        return is_word ? "" : "must not hold spaces or control characters";
    });
}

value_type<std::string> label_names() {
    return texts("label name", "", [](std::string_view text) -> std::string {
        if (text.empty()) return "is empty, expected the name of a label";
        return is_utf8(text) ? "" : in_quotes(text) + " is not UTF-8";
    });
}

value_type<selector> selectors() {
    auto type = scalar_type<selector>(
        described("selector", "", R"("type":"string")"),
        [](std::string_view text, selector& target) -> std::string {
            auto parsed = parse_selector(text);
            if (!parsed) return to_string(parsed.error());
            target = std::move(*parsed);
            return "";
        },
        [](const selector& value) { return value.to_string(); });
    type.read = [assign = type.assign](const config_node& at, selector& target) {
        // Without the quotes, {namespace=~".+"} is a map to YAML.
        if (!at.is_map() && !at.is_list())
            return read_scalar(at, [&](std::string_view text) { return assign(text, target); });
        at.fail_kind("a selector in quotes, such as '{namespace=~\".+\"}'");
        return false;
    };
    return type;
}

std::string wrong_with_tenant_header(std::string_view name) {
    if (!is_header_name(name)) return in_quotes(name) + " is not the name of an HTTP header";
    if (!is_one_of(headers_of_one_hop, name)) return "";
    return in_quotes(name) + " does not go on to the upstream, so that it would not see the tenant";
}

std::string wrong_with_header(std::string_view name) {
    if (!is_header_name(name)) return "is not the name of an HTTP header";
    if (equal_ignoring_case(name, "host")) return "is made by the gate, see upstream.hostHeader";
    if (is_one_of(headers_of_one_hop, name) || is_one_of(headers_of_ours, name) ||
        equal_ignoring_case(name.substr(0, headers_of_the_body.size()), headers_of_the_body))
        return "is made by the gate or by the sender, and cannot be set";
    return "";
}

bool has_control_character(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::string wrong_with_header_value(std::string_view text) {
    std::string without_tabs{text};
    std::erase(without_tabs, '\t');
    if (has_control_character(without_tabs)) return "must not hold control characters, such as the end of a line";
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    const bool has_blank_end = !text.empty() && (is_blank(text.front()) || is_blank(text.back()));
    return has_blank_end ? "must not begin or end with white space" : "";
}

std::string none_of(const std::vector<std::string>& words) {
    if (words.size() == 2) return " is neither " + words[0] + " nor " + words[1];
    std::string all;
    for (const std::string& each : words) all += (all.empty() ? "" : each == words.back() ? " and " : ", ") + each;
    return " is none of " + all;
}

}  // namespace seriesgate
