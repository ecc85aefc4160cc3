/// Formats of the admin answers: JSON envelopes, HTML escapes, numbers and times.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "limit/figures.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

// --- JSON.

boost::json::object group_json(const group_labels& group);
boost::json::object window_json(const budget_window_figures& window);

/// RFC 3339, in UTC, to the second.
std::string utc(std::chrono::sys_time<std::chrono::nanoseconds> moment);

/// A time as utc() has it.
template <class Value>
boost::json::value or_null(const std::optional<Value>& value) {
    if (!value) return nullptr;
    if constexpr (requires { utc(*value); })
        return boost::json::value(utc(*value));
    else
        return boost::json::value(*value);
}

/// The envelope of Prometheus' HTTP API. Source: prometheus.io/docs/prometheus/latest/querying/api, "Format overview".
/// @param warning a note about the answer; empty: none.
std::string success_json(boost::json::value data, std::string_view warning = {});
/// @param type as in that API: bad_data, unavailable, ...
std::string error_json(std::string_view type, std::string_view error);

// --- HTML.
/// Escapes a text for use between tags or in a quoted attribute. A control character other than a line feed becomes its
/// escape, `\x1f`. @param text valid UTF-8.
std::string escaped(std::string_view text);

/// Replaces the middle of a longer text by `…`; cuts no character.
std::string cut(std::string_view text, std::size_t bytes_max);

/// A sender's name as an isolated element, so that right-to-left letters do not affect other text. Shortened to
/// `bytes_max`; may break after a `_`, or after long unbroken parts.
/// @param name readable already, see readable(): its backslashes are escapes.
std::string name_html(std::string_view name, std::size_t bytes_max = 80);

/// A section of the page, which the script replaces as a whole. @param content HTML, like `title`.
std::string section_html(std::string_view id, std::string_view title, std::string_view content);

/// @param description HTML, like `term`.
std::string term_html(std::string_view term, std::string_view description);

/// `1 series`, `99,812 series`.
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

/// `10:04 UTC`, with the full time as attribute and tooltip.
std::string moment_html(std::chrono::sys_seconds moment);

}  // namespace seriesgate
