/// Every budget there is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limit/budget.hpp"
#include "limit/limits.hpp"

namespace seriesgate {

enum class budget_kind : std::uint8_t { global, exempt, tenant, group };

/// What a budget is for, beside the tenant or group that it is filed under.
struct budget_role {
    budget_kind kind = budget_kind::global;
    bool overflow = false;    ///< shared by the tenants or groups beyond the bound
    std::uint32_t limit = 0;  ///< of a group: index in limit_rules::limits
};

/// One limit's counters for the running hour and day.
struct budget_pair {
    budget hourly;
    budget daily;
    budget_role role;
    limit_mode mode = limit_mode::enforce;

    [[nodiscard]] bool enforces() const noexcept { return mode == limit_mode::enforce; }
};

/// Whose budget it is, for people: all of it is valid UTF-8.
struct budget_name {
    std::string limit;  ///< of a label limit; empty for a tenant's and the global budget
    std::string tenant;
    bool has_tenant = false;
    group_labels group;
    bool overflow = false;
};

/// A request's tenant with its budget, which is looked up for the first series that asks and kept for the others: valid
/// under one hold of the commit lock. Null while there is none.
struct tenant_of_request {
    std::string_view name;
    budget_pair* budget = nullptr;
};

/// @param key what the budget is filed under: the tenant's name, or see rule_selections::one::key.
budget_name name_of(const limit_rules& rules, const budget_role& role, std::string_view key);

/// The global budget, one for each tenant that was seen, one for each group of each label limit. Bounded: beyond
/// the maximum, tenants or groups share an overflow budget.
///
/// Ten thousand budgets are to cost as good as nothing, so a budget is its counters and the key that it is filed
/// under; its name is made when somebody asks.
///
/// Threads: under the commit lock.
class budget_book {
    struct text_hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
    };
    /// Its elements stay where they are.
    using budgets_by_key = std::unordered_map<std::string, budget_pair, text_hash, std::equal_to<>>;

    /// The budgets of one label limit, or of the tenants.
    struct shelf {
        budgets_by_key by_key;
        std::size_t bounded = 0;  ///< those without an override: only they count towards the maximum
        std::unique_ptr<budget_pair> overflow;
    };

    std::shared_ptr<const limit_rules> rules_;
    budget_pair global_;
    budget_pair exempt_;
    shelf tenants_;
    std::vector<shelf> limits_;  // as rules_->limits

  public:
    explicit budget_book(std::shared_ptr<const limit_rules> rules);

    [[nodiscard]] const std::shared_ptr<const limit_rules>& rules() const noexcept { return rules_; }
    [[nodiscard]] const budget_pair& global() const noexcept { return global_; }
    /// Counts the series that no limit applies to by exemption.
    [[nodiscard]] const budget_pair& exempt() const noexcept { return exempt_; }

    /// Fills `found` with the budgets that apply to a series. A null pointer stands for one that is not there yet,
    /// which has room by definition: a series that is refused must not leave budgets behind.
    void find(tenant_of_request& tenant, const rule_selections::one& selection, std::vector<budget_pair*>& found);
    /// Makes those that find() did not find. Nothing else may have been made since.
    void make_missing(tenant_of_request& tenant, const rule_selections::one& selection,
                      std::vector<budget_pair*>& found);

    /// Takes other rules: budgets of limits that are still there keep their counts, those of others go.
    void reconfigure(std::shared_ptr<const limit_rules> rules);

    /// Drops the budgets that counted nothing in the hour that ends and have no count in a day that goes on, so that
    /// groups which have gone make room.
    void drop_unused(bool day_ends);

    /// Counts with the names that they belong to.
    void save(state_encoder& out) const;
    /// Fills an unused book. Counts of limits that the rules no longer have, or have differently, are left out.
    void load(state_decoder& in);

    /// @param visit called with every budget and the key that it is filed under.
    template <class Visit>
    void for_each(Visit visit) {
        visit_all(*this, visit);
    }
    template <class Visit>
    void for_each(Visit visit) const {
        visit_all(*this, visit);
    }

  private:
    [[nodiscard]] budget_pair* find_tenant(std::string_view tenant);
    [[nodiscard]] budget_pair* find_group(std::size_t limit, std::string_view key);
    budget_pair& make_tenant(std::string_view tenant);
    budget_pair& make_group(std::size_t limit, std::optional<std::string_view> key);
    [[nodiscard]] bool shares_overflow(std::string_view tenant) const;
    [[nodiscard]] bool shares_overflow(std::size_t limit, std::string_view key) const;
    [[nodiscard]] bool is_overridden(const budget_role& role, std::string_view key) const;
    void count_bounded(shelf& of) const;
    budget_pair& make_overflow(shelf& of, const budget_role& role);
    budget_pair& open(shelf& of, std::string_view key, const budget_role& role);
    void apply_rules(budget_pair& pair, std::string_view key) const;
    void load_shelf(state_decoder& in, shelf* into, const budget_role& role, std::size_t parts);

    template <class Self, class Visit>
    static void visit_all(Self& self, Visit& visit) {
        const auto visit_shelf = [&visit](auto& of) {
            for (auto& [key, pair] : of.by_key) visit(pair, std::string_view{key});
            if (of.overflow) visit(*of.overflow, std::string_view{});
        };
        visit(self.global_, std::string_view{});
        visit(self.exempt_, std::string_view{});
        visit_shelf(self.tenants_);
        for (auto& limit : self.limits_) visit_shelf(limit);
    }
};

}  // namespace seriesgate
