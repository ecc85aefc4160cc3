#include "claim/request_budgets.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "limit/budget_table.hpp"
#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// What an id is made of besides the key.
constexpr std::string_view own_place = "own";
constexpr std::string_view overflow_place = "overflow";
constexpr std::string_view limit_budgets_name = "shelf";

budget_role as_overflow(budget_role role) {
    role.overflow = true;
    return role;
}

/// Whether it shares the overflow budget however few there are, see budget_table::shares_overflow.
bool always_shares(const compiled_rules& rules, const budget_role& role, std::optional<std::string_view> key) {
    if (!key || key->size() > group_key_bytes_max) return true;
    return role.kind == budget_kind::tenant ? *key == overflow_name : is_named_overflow(rules.limits[role.limit], *key);
}

}  // namespace

void request_budgets::start(const compiled_rules& rules, std::string_view tenant) {
    rules_ = &rules;
    tenant_ = tenant;
    all_.clear();
    by_id_.clear();
}

void request_budgets::find(const rule_selections::one& selection, std::vector<applying>& found) {
    found.clear();
    if (selection.is_apart() || rules_->mode == limit_mode::observe) return;
    add({.kind = budget_kind::global}, "", 0, found);
    add({.kind = budget_kind::tenant}, tenant_, tenant_place, found);
    for (std::size_t i = 0; i < selection.size(); ++i)
        add({.kind = budget_kind::group, .limit = static_cast<std::uint32_t>(selection.limit_index(i))},
            selection.key(i), first_limit_place + i, found);
}

void request_budgets::shrink() {
    by_id_ = {};
    give_back(all_);
}

void request_budgets::add(const budget_role& role, std::optional<std::string_view> key, std::size_t place,
                          std::vector<applying>& found) {
    const bool shares = role.kind != budget_kind::global && always_shares(*rules_, role, key);
    const std::uint64_t id = shares ? id_of(role, overflow_place, "") : id_of(role, own_place, *key);
    auto known = by_id_.find(id);
    if (known == by_id_.end()) known = by_id_.emplace(id, describe(shares ? as_overflow(role) : role, key, id)).first;
    if (known->second) found.push_back({.budget = *known->second, .place = static_cast<std::uint32_t>(place)});
}

/// @return its place in all_; nothing if it limits nothing, and would not if it had to share.
std::optional<std::uint32_t> request_budgets::describe(const budget_role& role, std::optional<std::string_view> key,
                                                       std::uint64_t id) {
    const ruling own = ruling_of(*rules_, role, key.value_or(""));
    claimed_budget made{.id = id, .maxima = own.maxima};
    const bool is_bounded = role.kind != budget_kind::global && !role.overflow && !is_overridden(*rules_, role, *key);
    if (is_bounded) {
        made.limit_budgets = id_of(role, limit_budgets_name, "");
        made.places_max =
            role.kind == budget_kind::tenant ? rules_->tenants.tenants_max : rules_->limits[role.limit].groups_max;
        made.overflow_id = id_of(role, overflow_place, "");
        made.overflow_maxima = ruling_of(*rules_, as_overflow(role), "").maxima;
    }
    if (own.mode == limit_mode::observe || (!made.maxima.limit() && !made.overflow_maxima.limit())) return std::nullopt;
    all_.push_back(made);
    return static_cast<std::uint32_t>(all_.size() - 1);
}

/// Never 0.
std::uint64_t request_budgets::id_of(const budget_role& role, std::string_view what, std::string_view key) {
    text_.clear();
    append_key_part(text_, what);
    append_key_part(text_, role.kind == budget_kind::global   ? "global"
                           : role.kind == budget_kind::tenant ? "tenant"
                                                              : "limit");
    append_key_part(text_, role.kind == budget_kind::group ? rules_->limits[role.limit].name : std::string{});
    append_key_part(text_, key);
    return std::max<std::uint64_t>(1, key_(text_));
}

}  // namespace seriesgate
