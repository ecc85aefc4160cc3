#include "admin/json_text.hpp"

#include <fmt/chrono.h>

#include <boost/json/object.hpp>
#include <utility>

namespace seriesgate {

namespace json = boost::json;

boost::json::object group_json(const group_labels& group) {
    boost::json::object made;
    for (const auto& [label, value] : group) made[label] = value;
    return made;
}

std::string utc(std::chrono::sys_seconds moment) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(moment)));
}

std::string success_json(json::value data, std::string_view warning) {
    json::object made{{"status", "success"}};
    made["data"] = std::move(data);
    if (!warning.empty()) made["warnings"] = json::array{warning};
    return json::serialize(made) + "\n";
}

std::string error_json(std::string_view type, std::string_view error) {
    return json::serialize(json::object{{"status", "error"}, {"errorType", type}, {"error", error}}) + "\n";
}

}  // namespace seriesgate
