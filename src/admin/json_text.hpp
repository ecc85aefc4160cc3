/// What all JSON answers have in common.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "limit/rules.hpp"

namespace seriesgate {

/// The labels of a budget's group.
boost::json::object group_json(const group_labels& group);

/// RFC 3339, in UTC, to the second.
std::string utc(std::chrono::sys_seconds moment);

/// The envelope of Prometheus' HTTP API. Source: prometheus.io/docs/prometheus/latest/querying/api, "Format overview".
/// @param warning what a reader has to know of the answer; empty: nothing.
std::string success_json(boost::json::value data, std::string_view warning = {});
/// @param type as there: bad_data, unavailable, ...
std::string error_json(std::string_view type, std::string_view error);

}  // namespace seriesgate
