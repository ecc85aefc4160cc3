#pragma once

#include <cassert>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "config/counts.hpp"
#include "config/wording.hpp"

/// One value each, from text. All return what is wrong, or an empty string; then, and only then, they have written the
/// target.
namespace seriesgate {

/// Both ends belong to it.
template <typename Value>
struct range {
    Value min;
    Value max;
};

/// Catches slips of the finger; memory (3 bytes a series) runs out long before.
inline constexpr range<std::uint64_t> series_counts{0, 1'000'000'000'000};
/// Tenants or groups with a budget of their own.
inline constexpr range<std::uint64_t> budget_counts{1, 10'000'000};

/// A count behind a minus.
bool is_negative_count(std::string_view text);

template <typename Integer>
std::string assign_count(std::string_view text, range<Integer> bounds, Integer& target) {
    assert(bounds.min < bounds.max);
    if (is_negative_count(text)) return in_quotes(text) + " is negative";
    const auto read = parse_count(text);
    if (!read) return in_quotes(text) + " is not a whole number" + advice(count_meant(text));
    if (*read > bounds.max) return in_quotes(text) + " is too large, at most " + std::to_string(bounds.max);
    const auto value = static_cast<Integer>(*read);
    if (value < bounds.min) return in_quotes(text) + " is too small, at least " + std::to_string(bounds.min);
    target = value;
    return "";
}

/// How many series, 0 for any number.
std::string assign_series_count(std::string_view text, std::uint64_t& target);
std::string assign_rate(std::string_view text, range<double> bounds, double& target);
/// `5%`, `2.5%`: from nothing to `max`.
std::string assign_percentage(std::string_view text, percentage max, percentage& target);
std::string assign_duration(std::string_view text, range<std::chrono::milliseconds> bounds,
                            std::chrono::milliseconds& target);
/// A duration in whole seconds.
std::string assign_seconds(std::string_view text, range<std::chrono::milliseconds> bounds,
                           std::chrono::seconds& target);
std::string assign_size(std::string_view text, range<std::uint64_t> bounds, std::uint64_t& target);
/// `true` or `false`.
std::string assign_flag(std::string_view text, bool& target);
/// `enforce` or `observe`.
std::string assign_mode(std::string_view text, limit_mode& target);
/// `drop` or `reject`.
std::string assign_answer(std::string_view text, limit_answer& target);
/// A status that a sender may be told refusals with.
/// A path with one `{tenant}` or `{account}` in it, or nothing.
std::string assign_tenant_path(std::string_view text, std::string& target);
std::string assign_reject_status(std::string_view text, unsigned& target);
/// `passthrough` or `v1`.
std::string assign_protocol(std::string_view text, upstream_protocol& target);
/// `url` or `sender`.
std::string assign_host_header(std::string_view text, upstream_host& target);
/// `logfmt` or `json`.
std::string assign_log_format(std::string_view text, log::format& target);
/// `debug`, `info`, `warn` or `error`.
std::string assign_log_level(std::string_view text, log::level& target);
/// The name of an HTTP header that may name the tenant: a token of RFC 9110, and none that ends at every hop.
std::string assign_tenant_header(std::string_view text, std::string& target);
/// What is wrong with a header's name that requests to a store are to have; empty if nothing is. Not allowed are those
/// that end at every hop, and those that say what the body is or that the gate makes itself.
std::string wrong_with_header(std::string_view name);
/// What a header says. What is wrong is told without the value.
std::string assign_header_value(std::string_view text, std::string& target);
/// Of basic authentication.
std::string assign_user_name(std::string_view text, std::string& target);
/// A host as browsers name it, `name` or `name:port`; in small letters.
std::string assign_host(std::string_view text, std::string& target);
/// The name of a query argument, as it is when decoded.
std::string assign_argument_name(std::string_view text, std::string& target);
/// A path for the operating system; may be empty.
std::string assign_path(std::string_view text, std::string& target);
/// The name of a label: not empty, UTF-8.
std::string assign_label_name(std::string_view text, std::string& target);
std::string assign_selector(std::string_view text, selector& target);

}  // namespace seriesgate
