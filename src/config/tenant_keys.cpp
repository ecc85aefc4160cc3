// `tenants.overrides`: limits of single tenants.
#include "config/known_keys.hpp"
#include "config/rule_keys.hpp"
#include "config/rule_values.hpp"

namespace seriesgate {
namespace {

constexpr std::array maxima_fields{
    field<series_maxima>{"maxHourlySeries",
                         [](const placed_value& at, series_maxima& to) { read_series_count(at, to.hourly); }},
    field<series_maxima>{"maxDailySeries",
                         [](const placed_value& at, series_maxima& to) { read_series_count(at, to.daily); }},
};

}  // namespace

void read_tenant_overrides(const placed_value& at, config& target) {
    tenant_limits& tenants = target.tenants;
    for (const auto& [tenant, value] : at.members()) {
        series_maxima maxima = tenants.fallback;  // what an override leaves out is as for the others
        read_fields(value, maxima_fields, maxima);
        tenants.overrides.emplace(tenant, maxima);
    }
}

}  // namespace seriesgate
