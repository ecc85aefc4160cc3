#include "admin/suggestions_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "admin/json_text.hpp"
#include "config/suggested_yaml.hpp"
#include "limit/explain.hpp"

namespace seriesgate {
namespace {

namespace json = boost::json;

std::string_view name_of(demand_scope scope) noexcept {
    switch (scope) {
        case demand_scope::global:
            return "global";
        case demand_scope::tenants:
            return "tenants";
        case demand_scope::tenant:
            return "tenant";
        case demand_scope::limit:
            return "limit";
        case demand_scope::group:
            break;
    }
    return "group";
}

template <class Number>
json::value or_null(const std::optional<Number>& number) {
    return number ? json::value(*number) : json::value(nullptr);
}

json::object to_json(const window_suggestion& of) {
    std::optional<std::int64_t> seconds;
    if (of.exhausted_in) seconds = of.exhausted_in->count();
    return {{"maxSeries", of.series_max},
            {"demand", of.demand},
            {"peak", of.peak},
            {"typical", or_null(of.typical)},
            {"windows", of.windows},
            {"suggested", or_null(of.suggested)},
            {"headroom", or_null(of.headroom)},
            {"exhaustedInSeconds", or_null(seconds)}};
}

json::object to_json(const suggestion& of, const limit_rules& rules) {
    json::object made{{"budget", name_of(of.scope)}};
    if (!of.name.limit.empty()) made["limit"] = of.name.limit;
    if (of.name.has_tenant) made["tenant"] = of.name.tenant;
    if (of.scope == demand_scope::group) made["group"] = group_json(of.name.group);
    made["mode"] = to_text(of.mode);
    made["hourly"] = to_json(of.hourly);
    made["daily"] = to_json(of.daily);
    made["yaml"] = or_null(suggested_yaml(rules, of.scope, of.name, of.to_write));
    return made;
}

}  // namespace

std::string suggestions_json(const suggestion_list& list, const limit_rules& rules) {
    json::array made;
    for (const suggestion& each : list.shown) made.push_back(to_json(each, rules));
    return success_json(std::move(made));
}

}  // namespace seriesgate
