#include "marker/withheld.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "limit/explain.hpp"
#include "limit/rules.hpp"
#include "series/label.hpp"

namespace seriesgate {
namespace {

using tenant_names = std::set<std::string_view>;

/// Cut between two characters.
std::string cut(std::string text) {
    if (text.size() <= marker_text_bytes_max) return text;
    constexpr std::string_view mark = "...";
    std::size_t end = marker_text_bytes_max - mark.size();
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
    return text.append(mark);
}

/// A budget in one of its windows.
struct spent_window {
    const budget_figures* budget;
    std::string_view limit;
    refusing_window window;
    std::uint64_t series_refused;
};

bool withholds(const budget_window_figures& of, reserve_parts reserve) {
    if (of.series_refused == 0 || of.series_max == 0) return false;
    const std::uint64_t max = claimed_max(of.series_max, reserve);
    return of.series_current >= max || of.series_reserved >= max - of.series_current;
}

/// Those that withhold something, with the most refused series first.
std::vector<spent_window> find_spent(const limiter_figures& figures, reserve_parts reserve) {
    std::vector<spent_window> found;
    const auto look_at = [&](const budget_figures& each, std::string_view limit) {
        const bool is_of_series = limit != own_limit_names[ignored_values_limit];
        if (each.mode != limit_mode::enforce || !is_of_series) return;
        for (const auto& [window, of] :
             {std::pair{refusing_window::hourly, &each.hourly}, std::pair{refusing_window::daily, &each.daily}})
            if (withholds(*of, reserve)) found.push_back({&each, limit, window, of->series_refused});
    };
    look_at(figures.global, own_limit_names[global_limit]);
    for (const budget_figures& each : figures.tenants) look_at(each, own_limit_names[tenant_limit]);
    for (const budget_figures& each : figures.limits) look_at(each, each.name.limit);
    std::ranges::stable_sort(found, std::greater{}, &spent_window::series_refused);
    return found;
}

/// Whom something was refused in a window.
class hurt_tenants {
    std::map<std::string_view, tenant_names> by_limit_;
    tenant_names all_;
    std::map<std::string, std::string_view, std::less<>> by_shown_name_;

  public:
    hurt_tenants(std::span<const refused_tenant> refused, time_point since) {
        for (const refused_tenant& each : refused) {
            if (each.last < since || each.limit == own_limit_names[unknown_limit]) continue;
            by_limit_[each.limit].insert(each.tenant);
            if (all_.insert(each.tenant).second) by_shown_name_.emplace(readable(each.tenant), each.tenant);
        }
    }

    [[nodiscard]] const tenant_names& by(std::string_view limit) const {
        const auto found = by_limit_.find(limit);
        return found == by_limit_.end() ? all_ : found->second;
    }
    /// @param shown as figures have its name.
    [[nodiscard]] tenant_names named(std::string_view shown) const {
        const auto found = by_shown_name_.find(shown);
        return found == by_shown_name_.end() ? tenant_names{} : tenant_names{found->second};
    }
};

/// Tenants with a budget of their own, as figures have their names.
tenant_names names_of(const std::vector<budget_figures>& tenants) {
    tenant_names names;
    for (const budget_figures& each : tenants)
        if (!each.name.overflow) names.insert(each.name.tenant);
    return names;
}

/// Under whom to write a budget's marker.
class addressees {
    hurt_tenants hourly_;
    hurt_tenants daily_;
    tenant_names with_own_;

  public:
    addressees(const limiter_figures& figures, std::span<const refused_tenant> refused)
        : hourly_(refused, figures.hourly.span.start),
          daily_(refused, figures.daily.span.start),
          with_own_(names_of(figures.tenants)) {}

    [[nodiscard]] tenant_names of(const spent_window& spent) const {
        const hurt_tenants& hurt = spent.window == refusing_window::hourly ? hourly_ : daily_;
        const budget_name& name = spent.budget->name;
        if (name.has_tenant && !name.overflow) return hurt.named(name.tenant);
        tenant_names found = hurt.by(spent.limit);
        if (name.has_tenant)
            std::erase_if(found, [&](std::string_view tenant) { return with_own_.contains(readable(tenant)); });
        return found;
    }
};

marker_name name_of(const spent_window& spent, std::string_view tenant) {
    const budget_name& name = spent.budget->name;
    return {.tenant = std::string{tenant},
            .limit = cut(repaired_utf8(spent.limit)),
            .group = cut(repaired_utf8(group_text(name))),
            .of_tenant = cut(name.has_tenant ? repaired_utf8(name.tenant) : std::string{}),
            .window = spent.window};
}

}  // namespace

marker_values find_withheld(const limiter_figures& figures, std::span<const refused_tenant> refused,
                            reserve_parts reserve) {
    marker_values found;
    const std::vector<spent_window> all = find_spent(figures, reserve);
    if (all.empty()) return found;
    const addressees whom{figures, refused};
    for (const spent_window& spent : all)
        for (const std::string_view tenant : whom.of(spent)) {
            found.emplace(name_of(spent, tenant), spent.series_refused);  // one that is there has the larger value
            if (found.size() == markers_max) return found;
        }
    return found;
}

}  // namespace seriesgate
