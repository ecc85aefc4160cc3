/// Texts, numbers and times as HTML.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/text.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

// --- What all JSON answers have in common.

/// The labels of a budget's group.
boost::json::object group_json(const group_labels& group);

/// RFC 3339, in UTC, to the second.
std::string utc(std::chrono::sys_seconds moment);

/// The envelope of Prometheus' HTTP API. Source: prometheus.io/docs/prometheus/latest/querying/api, "Format overview".
/// @param warning what a reader has to know of the answer; empty: nothing.
std::string success_json(boost::json::value data, std::string_view warning = {});
/// @param type as there: bad_data, unavailable, ...
std::string error_json(std::string_view type, std::string_view error);

/// As text between tags, or in a quoted attribute: no byte of it becomes markup. A control character other than a
/// line feed becomes its escape, `\x1f`. @param text valid UTF-8.
std::string escaped(std::string_view text);

/// The beginning and the end of a text that is longer, with `…` between; no character of it is cut.
std::string cut(std::string_view text, std::size_t bytes_max);

/// A name of a sender's choosing, by itself, so that letters that are written from right to left turn nothing else
/// around; cut to `bytes_max`. It may break behind a `_`, and where nothing else lets it break for long.
/// @param name as people read it, see readable(): backslashes are escapes already.
std::string name_html(std::string_view name, std::size_t bytes_max = 80);

/// A term of a description list and what is said of it, both as HTML.
std::string term_html(std::string_view term, std::string_view description);

/// `1 series`, `99,812 series`: with the word that fits.
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

/// `10:04 UTC`, with the whole moment for programs and who points at it.
std::string moment_html(std::chrono::sys_seconds moment);

}  // namespace seriesgate
