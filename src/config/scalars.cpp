#include "config/scalars.hpp"
#include "core/path_tenant.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <span>

#include "config/decimals.hpp"
#include "config/shown.hpp"
#include "config/units.hpp"
#include "config/units_meant.hpp"
#include "config/wording.hpp"
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

constexpr std::array<std::string_view, 9> words_for_no_limit{"unlimited", "infinity", "inf",   ".inf", "none",
                                                             "no",        "off",      "false", "max"};

bool consists_of(std::string_view text, std::string_view characters) noexcept {
    return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool is_one_of(std::span<const std::string_view> names, std::string_view text) {
    return std::ranges::any_of(names, [text](std::string_view name) { return equal_ignoring_case(text, name); });
}

bool is_control(char c) noexcept {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// " is not a size such as 32MiB", or what to write instead, if that is known.
std::string not_a(std::string_view what, std::string_view examples, std::string_view meant) {
    const std::string head = std::string{" is not a "}.append(what);
    return meant.empty() ? head + " such as " + std::string{examples} : head + advice(meant);
}

}  // namespace

bool is_negative_count(std::string_view text) {
    return text.starts_with('-') && parse_count(text.substr(1));
}

std::string assign_series_count(std::string_view text, std::uint64_t& target) {
    std::string wrong = assign_count(text, series_counts, target);
    const bool means_any = text == "-1" || std::ranges::count(words_for_no_limit, in_lower_case(text)) != 0;
    return wrong.empty() || !means_any ? wrong : wrong + advice("0 for no limit");
}

std::string assign_percentage(std::string_view text, percentage max, percentage& target) {
    const std::string expected = ", expected a percentage such as 5%";
    if (!text.ends_with('%')) return in_quotes(text) + " has no %" + expected;
    const auto hundredths = whole_product(text.substr(0, text.size() - 1), 100);
    if (!hundredths)
        return in_quotes(text) + " is no number of percent with at most two digits behind the point" + expected;
    if (*hundredths > max.hundredths) return in_quotes(text) + " is too much, at most " + shown(max);
    target.hundredths = static_cast<std::uint32_t>(*hundredths);
    return "";
}

std::string assign_rate(std::string_view text, range<double> bounds, double& target) {
    assert(bounds.min < bounds.max);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
        return in_quotes(text) + not_a("number", "0.0001", rate_meant(text));
    }
    const bool inside = error == std::errc{} && value >= bounds.min && value <= bounds.max;
    if (!inside) {
        return in_quotes(text) + " is not between " + format_rate(bounds.min) + " and " + format_rate(bounds.max);
    }
    target = value;
    return "";
}

std::string assign_duration(std::string_view text, range<std::chrono::milliseconds> bounds,
                            std::chrono::milliseconds& target) {
    assert(bounds.min.count() >= 0 && bounds.min < bounds.max);
    if (text.starts_with('-') && parse_duration(text.substr(1))) return in_quotes(text) + " is negative";
    const auto value = parse_duration(text);
    if (!value && is_digits(text)) return in_quotes(text) + " has no unit" + advice(duration_meant(text));
    if (!value) return in_quotes(text) + not_a("duration", "500ms, 25s, 10m or 1h30m", duration_meant(text));
    if (*value < bounds.min) return in_quotes(text) + " is too short, at least " + format_duration(bounds.min);
    if (*value > bounds.max) return in_quotes(text) + " is too long, at most " + format_duration(bounds.max);
    target = *value;
    return "";
}

std::string assign_seconds(std::string_view text, range<std::chrono::milliseconds> bounds,
                           std::chrono::seconds& target) {
    std::chrono::milliseconds value{};
    if (auto wrong = assign_duration(text, bounds, value); !wrong.empty()) return wrong;
    if (value % 1s != 0ms) return in_quotes(text) + " is not in whole seconds";
    target = std::chrono::duration_cast<std::chrono::seconds>(value);
    return "";
}

std::string assign_size(std::string_view text, range<std::uint64_t> bounds, std::uint64_t& target) {
    assert(bounds.min < bounds.max);
    if (text.starts_with('-') && parse_size(text.substr(1))) return in_quotes(text) + " is negative";
    const auto value = parse_size(text);
    if (!value) return in_quotes(text) + not_a("size", "4096, 512KiB, 32MiB or 1GB", size_meant(text));
    if (*value < bounds.min) return in_quotes(text) + " is too small, at least " + format_size(bounds.min);
    if (*value > bounds.max) return in_quotes(text) + " is too large, at most " + format_size(bounds.max);
    target = *value;
    return "";
}

std::string assign_flag(std::string_view text, bool& target) {
    if (text != "true" && text != "false")
        return in_quotes(text) + " is neither true nor false" + advice(flag_meant(text));
    target = text == "true";
    return "";
}

std::string assign_mode(std::string_view text, limit_mode& target) {
    if (text != "enforce" && text != "observe") return in_quotes(text) + " is neither enforce nor observe";
    target = text == "observe" ? limit_mode::observe : limit_mode::enforce;
    return "";
}

std::string assign_answer(std::string_view text, limit_answer& target) {
    if (text != "drop" && text != "reject") return in_quotes(text) + " is neither drop nor reject";
    target = text == "reject" ? limit_answer::reject : limit_answer::drop;
    return "";
}

std::string assign_protocol(std::string_view text, upstream_protocol& target) {
    if (text != "passthrough" && text != "v1") return in_quotes(text) + " is neither passthrough nor v1";
    target = text == "v1" ? upstream_protocol::v1 : upstream_protocol::passthrough;
    return "";
}

std::string assign_host_header(std::string_view text, upstream_host& target) {
    if (text != "url" && text != "sender") return in_quotes(text) + " is neither url nor sender";
    target = text == "sender" ? upstream_host::sender : upstream_host::url;
    return "";
}

std::string assign_log_format(std::string_view text, log::format& target) {
    if (text != "logfmt" && text != "json") return in_quotes(text) + " is neither logfmt nor json";
    target = text == "json" ? log::format::json : log::format::logfmt;
    return "";
}

std::string assign_log_level(std::string_view text, log::level& target) {
    for (const log::level each : {log::level::debug, log::level::info, log::level::warn, log::level::error}) {
        if (text != log::name_of(each)) continue;
        target = each;
        return "";
    }
    return in_quotes(text) + " is none of debug, info, warn and error";
}

std::string assign_reject_status(std::string_view text, unsigned& target) {
    if (text != "400" && text != "409" && text != "429") return in_quotes(text) + " is none of 400, 409 and 429";
    target = text == "400" ? 400 : text == "409" ? 409 : 429;
    return "";
}

std::string assign_tenant_header(std::string_view text, std::string& target) {
    if (!consists_of(text, header_name_characters)) return in_quotes(text) + " is not the name of an HTTP header";
    if (is_one_of(headers_of_one_hop, text))
        return in_quotes(text) + " does not go on to the upstream, so that it would not see the tenant";
    target = text;
    return "";
}

std::string assign_tenant_path(std::string_view text, std::string& target) {
    constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/{}";
    const auto pattern = find_tenant_mark(text);
    const bool is_path = text.starts_with('/') && !text.ends_with('/') && text.find("//") == std::string_view::npos &&
                         text.find_first_not_of(characters) == std::string_view::npos;
    const auto has_brace = [](std::string_view part) { return part.find_first_of("{}") != std::string_view::npos; };
    if (!text.empty() && (!is_path || !pattern || has_brace(pattern->before) || has_brace(pattern->behind)))
        return in_quotes(text) +
               " is not a path with {tenant} or {account} in the place of one segment, such as "
               "/insert/{account}/prometheus/api/v1/write";
    target = text;
    return "";
}

std::string wrong_with_header(std::string_view name) {
    if (!consists_of(name, header_name_characters)) return "is not the name of an HTTP header";
    if (equal_ignoring_case(name, "host")) return "is made by the gate, see upstream.hostHeader";
    if (is_one_of(headers_of_one_hop, name) || is_one_of(headers_of_ours, name) ||
        equal_ignoring_case(name.substr(0, headers_of_the_body.size()), headers_of_the_body))
        return "is made by the gate or by the sender, and cannot be set";
    return "";
}

std::string assign_header_value(std::string_view text, std::string& target) {
    if (std::ranges::any_of(text, [](char c) { return c != '\t' && is_control(c); }))
        return "must not hold control characters, such as the end of a line";
    const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    if (!text.empty() && (is_blank(text.front()) || is_blank(text.back())))
        return "must not begin or end with white space";
    target = text;
    return "";
}

std::string assign_user_name(std::string_view text, std::string& target) {
    if (text.find(':') != std::string_view::npos)
        return "must not hold a ':': with basic authentication a name ends there";
    if (std::ranges::any_of(text, is_control)) return "must not hold control characters";
    target = text;
    return "";
}

std::string assign_host(std::string_view text, std::string& target) {
    constexpr std::string_view characters = "abcdefghijklmnopqrstuvwxyz0123456789-._:[]";
    target = in_lower_case(text);
    const bool is_host =
        !text.empty() && text.size() <= 300 && target.find_first_not_of(characters) == std::string::npos;
    return is_host ? "" : in_quotes(text) + " is no host as browsers write it: a name, or name:port";
}

std::string assign_argument_name(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected the name of a query argument";
    if (text.find_first_of("&=") != std::string_view::npos) return in_quotes(text) + " is more than a name";
    target = text;
    return "";
}

std::string assign_path(std::string_view text, std::string& target) {
    if (text.find('\0') != std::string_view::npos) return in_quotes(text) + " is not a path";
    target = text;
    return "";
}

std::string assign_label_name(std::string_view text, std::string& target) {
    if (text.empty()) return "is empty, expected the name of a label";
    if (!is_utf8(text)) return in_quotes(text) + " is not UTF-8";
    target = text;
    return "";
}

std::string assign_selector(std::string_view text, selector& target) {
    auto parsed = parse_selector(text);
    if (!parsed) return to_string(parsed.error());
    target = std::move(*parsed);
    return "";
}

}  // namespace seriesgate
