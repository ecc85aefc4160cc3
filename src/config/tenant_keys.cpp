// `tenants.overrides`: limits of single tenants.
#include "config/known_keys.hpp"
#include "config/rule_keys.hpp"
#include "config/rule_values.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

struct override_draft {
    series_maxima maxima;
    std::optional<limit_answer> answer;
};

constexpr auto maxima = &override_draft::maxima;

constexpr std::array override_fields{
    field<override_draft>{"maxHourlySeries", into<read_series_count, maxima, &series_maxima::hourly>},
    field<override_draft>{"maxDailySeries", into<read_series_count, maxima, &series_maxima::daily>},
    field<override_draft>{"onLimit", into<read_answer, &override_draft::answer>},
};

}  // namespace

void read_tenant_overrides(const placed_value& at, config& target) {
    tenant_limits& tenants = target.rules.tenants;
    for (const auto& [tenant, value] : at.members()) {
        override_draft draft{tenants.fallback, {}};  // what an override leaves out is as for the others
        read_fields(value, override_fields, draft);
        if (tenant.size() > group_key_bytes_max)
            value.fail("is a name of more than " + std::to_string(group_key_bytes_max) +
                       " bytes: requests of such tenants are rejected");
        tenants.overrides.emplace(tenant, draft.maxima);
        if (draft.answer) tenants.answers.emplace(tenant, *draft.answer);
    }
}

}  // namespace seriesgate
