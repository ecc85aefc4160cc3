/// Which shared budgets apply to a series, as the store files them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "claim/claim.hpp"
#include "limit/budget.hpp"
#include "limit/rule_selections.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// The shared budgets of one request's series: those that enforce and have a maximum. Each is described once, however
/// many series it has. Threads: one at a time.
class request_budgets {
  public:
    /// One of them and where the limiter has it.
    struct applying {
        std::uint32_t budget;  ///< in all()
        std::uint32_t place;   ///< see budget_table::find

        friend bool operator==(const applying&, const applying&) = default;
    };

  private:
    hash_key key_;
    const compiled_rules* rules_ = nullptr;
    std::string_view tenant_;
    std::vector<claimed_budget> all_;
    std::unordered_map<std::uint64_t, std::optional<std::uint32_t>> by_id_;  // nothing for those that are not shared
    std::string text_;                                                       // that an id is made of

  public:
    /// @param key of the installation, the same at all gates: ids give no names away.
    explicit request_budgets(hash_key key) : key_(std::move(key)) {}

    /// Before another request. Both outlive its use.
    void start(const compiled_rules& rules, std::string_view tenant);

    /// @param found gets what applies to the series, the global budget first.
    void find(const rule_selections::one& selection, std::vector<applying>& found);

    /// Gives the memory of a giant back.
    void shrink();

    [[nodiscard]] const std::vector<claimed_budget>& all() const noexcept { return all_; }

  private:
    void add(const budget_role& role, std::optional<std::string_view> key, std::size_t place,
             std::vector<applying>& found);
    std::optional<std::uint32_t> describe(const budget_role& role, std::optional<std::string_view> key,
                                          std::uint64_t id);
    [[nodiscard]] std::uint64_t id_of(const budget_role& role, std::string_view what, std::string_view key);
};

}  // namespace seriesgate
