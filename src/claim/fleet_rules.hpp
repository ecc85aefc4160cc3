/// What one gate's rules mean to the shared store: which budgets it counts, under which numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "claim/store_call.hpp"
#include "limit/budget.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// A limit counts in the store if it has a maximum of the hour or the day, whether it enforces or observes. Limits of
/// exempt series and of ignored values are each gate's own.
///
/// Numbers of limits and budgets are keyed hashes of their names and rules, so all gates of an installation agree on
/// them and the store learns no names. Threads: one at a time.
class fleet_rules {
    hash_key key_;
    std::shared_ptr<const compiled_rules> rules_;
    std::vector<std::uint64_t> limits_;   // of the global budget, the tenants, then as compiled_rules::written_limits
    std::vector<std::uint64_t> counted_;  // as limits_: differs also when other budgets of the limit are counted
    std::vector<std::uint64_t> sharing_;  // as limits_: differs also when other groups share the overflow budget
    std::vector<std::uint64_t> in_order_;
    bool with_day_ = false;
    std::string text_;  // that a number is made of

  public:
    /// @param key of the installation, the same at all gates.
    explicit fleet_rules(hash_key key) : key_(std::move(key)) {}

    /// Before other functions. Cheap if these are the rules already.
    void use(std::shared_ptr<const compiled_rules> rules);
    [[nodiscard]] const std::shared_ptr<const compiled_rules>& rules() const noexcept { return rules_; }

    /// As gate_terms: all that depends on the rules alone.
    void describe(gate_terms& into) const;
    [[nodiscard]] bool with_day() const noexcept { return with_day_; }

    /// @param key nothing: too long for a budget of its own.
    /// @return nothing if the store does not count it.
    [[nodiscard]] std::optional<shared_budget> budget_of(const budget_role& role, std::optional<std::string_view> key);

    /// The number that such a budget has or would have, which needs no description. Never 0.
    [[nodiscard]] std::uint64_t id_of(const budget_role& role, std::optional<std::string_view> key);

  private:
    [[nodiscard]] bool uses_overflow(const budget_role& role, std::optional<std::string_view> key) const;
    [[nodiscard]] std::uint64_t number(std::string_view kind, const budget_role& role, std::string_view key);
    [[nodiscard]] std::uint64_t number_of_limit(const compiled_rules& rules, std::size_t place);
    [[nodiscard]] std::uint64_t number_of_counted(const compiled_rules& rules, std::size_t place, std::uint64_t limit);
    [[nodiscard]] std::uint64_t number_of_sharing(std::uint64_t sharing, std::uint64_t limit);
};

}  // namespace seriesgate
