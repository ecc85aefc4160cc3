#include "claim/fleet_rules.hpp"

#include <algorithm>
#include <utility>

#include "limit/rules.hpp"

namespace seriesgate {
namespace {

std::size_t place_of(const budget_role& role) {
    return role.kind == budget_kind::global ? 0 : role.kind == budget_kind::tenant ? 1 : 2 + role.limit;
}

bool counts_days(const compiled_rules& rules) {
    const auto daily = [](const series_maxima& of) { return of.daily != 0; };
    return daily(rules.global) || daily(rules.tenants.fallback) ||
           std::ranges::any_of(rules.tenants.overrides, [&](const auto& each) { return daily(each.second); }) ||
           std::ranges::any_of(rules.written_limits(), [&](const label_limit& limit) {
               return daily(limit.maxima) || std::ranges::any_of(limit.overrides, daily, &group_override::maxima);
           });
}

bool counts(const series_maxima& maxima) {
    return maxima.hourly != 0 || maxima.daily != 0;
}

series_maxima completions_of(const compiled_rules& rules, const series_maxima& maxima) {
    return {.hourly = margin_of(rules, maxima.hourly), .daily = margin_of(rules, maxima.daily)};
}

}  // namespace

void fleet_rules::use(std::shared_ptr<const compiled_rules> rules) {
    if (rules == rules_) return;
    const std::vector<limit_budgets_rules> described = limit_budgets_rules_of(*rules);
    std::vector<std::uint64_t> limits, counted, sharing;
    for (std::size_t place = 0; place < 2 + rules->written_limits().size(); ++place) {
        limits.push_back(number_of_limit(*rules, place));
        counted.push_back(number_of_counted(*rules, place, limits.back()));
        sharing.push_back(number_of_sharing(described[place].sharing, limits.back()));
    }
    std::vector<std::uint64_t> in_order = counted;
    in_order.insert(in_order.end(), sharing.begin() + 1, sharing.end());  // nobody shares the global budget
    std::ranges::sort(in_order);
    // Nothing throws from here on: these are the rules, or those before.
    with_day_ = counts_days(*rules);
    limits_ = std::move(limits);
    counted_ = std::move(counted);
    sharing_ = std::move(sharing);
    in_order_ = std::move(in_order);
    rules_ = std::move(rules);
}

/// Differs when other series count in the limit's budgets.
std::uint64_t fleet_rules::number_of_limit(const compiled_rules& rules, std::size_t place) {
    text_.clear();
    append_key_part(text_, "limit");
    append_key_part(text_, place == 0 ? "global" : place == 1 ? "tenants" : "labels");
    append_key_part(text_, std::to_string(rules.exempt.size()));
    for (const selector& each : rules.exempt) append_key_part(text_, each.to_string());
    if (place >= 2) {
        const label_limit& limit = rules.limits[place - 2];
        append_key_part(text_, limit.name);
        append_key_part(text_, limit.match ? limit.match->to_string() : std::string{});
        append_key_part(text_, limit.per_tenant ? "per tenant" : "");
        for (const std::string& label : limit.each) append_key_part(text_, label);
    }
    return std::max<std::uint64_t>(1, key_(text_));
}

/// The store counts no budget without a maximum: where one gets its first, its count is not complete.
std::uint64_t fleet_rules::number_of_counted(const compiled_rules& rules, std::size_t place, std::uint64_t limit) {
    text_.clear();
    append_key_part(text_, "counted");
    append_key_part(text_, std::to_string(limit));
    const auto add = [this](const series_maxima& of, std::string_view whose) {
        append_key_part(text_, counts(of) ? "counted" : "");
        append_key_part(text_, whose);
    };
    if (place == 0) {
        add(rules.global, "");
    } else if (place == 1) {
        add(rules.tenants.fallback, "");
        for (const auto& [name, maxima] : rules.tenants.overrides)
            if (counts(maxima) != counts(rules.tenants.fallback)) add(maxima, name);
    } else {
        const series_maxima& others = rules.limits[place - 2].maxima;
        add(others, "");
        for (const auto& [key, maxima] : rules.overridden[place - 2])
            if (counts(maxima) != counts(others)) add(maxima, key);
    }
    return std::max<std::uint64_t>(1, key_(text_));
}

/// Where it is another one, a budget may lack series that the overflow budget has counted.
std::uint64_t fleet_rules::number_of_sharing(std::uint64_t sharing, std::uint64_t limit) {
    text_.clear();
    append_key_part(text_, "sharing");
    append_key_part(text_, std::to_string(limit));
    append_key_part(text_, std::to_string(sharing));
    return std::max<std::uint64_t>(1, key_(text_));
}

void fleet_rules::describe(gate_terms& into) const {
    const series_maxima room = capacities_of(*rules_);
    into.with_day = with_day_;
    into.limits = in_order_;
    into.room = room.hourly;
    into.day_room = room.daily;
}

bool fleet_rules::uses_overflow(const budget_role& role, std::optional<std::string_view> key) const {
    if (role.kind == budget_kind::global) return false;
    if (role.overflow || !key || key->size() > group_key_bytes_max) return true;
    return role.kind == budget_kind::tenant ? *key == overflow_name
                                            : is_named_overflow(rules_->limits[role.limit], *key);
}

std::uint64_t fleet_rules::number(std::string_view kind, const budget_role& role, std::string_view key) {
    text_.clear();
    append_key_part(text_, kind);
    append_key_part(text_, std::to_string(limits_[place_of(role)]));
    append_key_part(text_, key);
    return std::max<std::uint64_t>(1, key_(text_));
}

std::uint64_t fleet_rules::id_of(const budget_role& role, std::optional<std::string_view> key) {
    return uses_overflow(role, key) ? number("overflow", role, "") : number("own", role, key.value_or(""));
}

std::optional<shared_budget> fleet_rules::budget_of(const budget_role& role, std::optional<std::string_view> key) {
    if (role.kind == budget_kind::group && role.limit >= rules_->written_limits().size()) return std::nullopt;
    budget_role overflow = role;
    overflow.overflow = true;
    const bool is_overflow = uses_overflow(role, key);
    const ruling own = ruling_of(*rules_, is_overflow ? overflow : role, key.value_or(""));
    shared_budget made{.id = id_of(role, key), .limit = counted_[place_of(role)]};
    const bool enforces = own.mode == limit_mode::enforce;
    if (enforces) made.maxima = {.hourly = own.maxima.hourly, .daily = own.maxima.daily};
    if (enforces) made.completions = completions_of(*rules_, own.maxima);
    const bool has_overflow = role.kind != budget_kind::global && !is_overflow;
    if (has_overflow) made.sharing = sharing_[place_of(role)];
    if (has_overflow) made.overflow_id = number("overflow", role, "");
    const bool is_bounded = has_overflow && !is_overridden(*rules_, role, key.value_or(""));
    if (!is_bounded) return counts(own.maxima) ? std::optional{made} : std::nullopt;
    const ruling shared = ruling_of(*rules_, overflow, "");
    if (!counts(own.maxima) && !counts(shared.maxima)) return std::nullopt;
    made.group_set = number("groups", role, "");
    made.groups_max =
        role.kind == budget_kind::tenant ? rules_->tenants.tenants_max : rules_->limits[role.limit].groups_max;
    if (enforces) made.overflow_maxima = {.hourly = shared.maxima.hourly, .daily = shared.maxima.daily};
    if (enforces) made.overflow_completions = completions_of(*rules_, shared.maxima);
    return made;
}

}  // namespace seriesgate
