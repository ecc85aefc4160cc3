#include "claim/shown_counts.hpp"

#include <optional>
#include <string_view>

#include "limit/budget_table.hpp"
#include "limit/learning.hpp"
#include "limit/limiter.hpp"

namespace seriesgate {

void show_heard_counts(series_limiter& limiter, const fleet_view& view, fleet_rules& rules) {
    rules.use(limiter.rules());
    const open_windows open = view.windows();
    const auto counts_of = [&](const budget_pair& pair) -> std::optional<fleet_counts> {
        const auto key = pair.role.overflow ? std::nullopt : std::optional<std::string_view>{pair.key};
        if (!rules.budget_of(pair.role, key)) return std::nullopt;
        const auto heard = view.counts_of(rules.id_of(pair.role, key));
        if (!heard) return std::nullopt;
        return fleet_counts{
            .hourly = heard->hourly, .daily = heard->daily, .kept = open.keeps_places ? heard->kept.value_or(0) : 0};
    };
    if (open.hour < 0) return;
    show_counts(limiter, hour_of(time_point{std::chrono::hours{open.hour}}), *rules.rules(), counts_of);
}

}  // namespace seriesgate
