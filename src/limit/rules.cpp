#include "limit/rules.hpp"

#include <algorithm>

namespace seriesgate {

const series_maxima& maxima_of(const tenant_limits& tenants, std::string_view tenant) {
    const auto found = tenants.overrides.find(tenant);
    return found == tenants.overrides.end() ? tenants.fallback : found->second;
}

std::uint64_t margin_of(const limit_rules& rules, std::uint64_t maximum) noexcept {
    constexpr std::uint64_t whole = 10'000;  // hundredths of a percent
    if (!rules.whole_histograms || maximum == 0) return 0;
    const std::uint64_t parts = rules.histogram_margin.hundredths;
    return std::max(maximum / whole * parts + maximum % whole * parts / whole, rules.histogram_series_max);
}

std::vector<std::string_view> limit_names_of(const limit_rules& rules) {
    std::vector<std::string_view> names;
    for (const label_limit& limit : rules.limits) names.push_back(limit.name);
    return names;
}

limit_answer answer_of(const limit_rules& rules, std::string_view tenant) {
    const auto found = rules.tenants.answers.find(tenant);
    return found != rules.tenants.answers.end() ? found->second : rules.tenants.answer;
}

}  // namespace seriesgate
