/// Something for each limit and tenant.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

namespace seriesgate {

/// What stands for all tenants that came when there was no room for one of its own.
inline constexpr std::string_view other_tenants = "__other__";

/// Bounded: beyond pairs_max the tenants of a limit share one. Threads: one at a time.
template <class Value>
class limit_table {
    struct slot {
        Value value{};
        bool shared = false;
    };
    using by_tenant = std::map<std::string, slot, std::less<>>;
    std::map<std::string, by_tenant, std::less<>> by_limit_;
    std::size_t pairs_ = 0;  // but for those that are shared

  public:
    static constexpr std::size_t pairs_max = 1000;

    Value& at(std::string_view limit, std::string_view tenant) {
        auto of = by_limit_.find(limit);
        if (of == by_limit_.end()) of = by_limit_.try_emplace(std::string{limit}).first;
        auto known = of->second.find(tenant);
        if (known == of->second.end() && pairs_ == pairs_max) known = of->second.find(other_tenants);
        if (known == of->second.end()) known = add(of->second, tenant);
        return known->second.value;
    }

    /// Whether the next tenant would share.
    [[nodiscard]] bool is_full() const noexcept { return pairs_ == pairs_max; }

    /// @param visit called with limit, tenant and value, in the order of their names.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [limit, tenants] : by_limit_)
            for (const auto& [tenant, of] : tenants) visit(limit, tenant, of.value);
    }

    /// @param done whether the pair may go. It makes room for another one.
    template <class Done>
    void erase_if(Done done) {
        for (auto of = by_limit_.begin(); of != by_limit_.end();) {
            for (auto each = of->second.begin(); each != of->second.end();) {
                const bool goes = done(each->second.value);
                pairs_ -= goes && !each->second.shared ? 1 : 0;
                each = goes ? of->second.erase(each) : std::next(each);
            }
            of = of->second.empty() ? by_limit_.erase(of) : std::next(of);
        }
    }

  private:
    auto add(by_tenant& to, std::string_view tenant) {
        const bool shared = pairs_ == pairs_max;
        const auto made = to.try_emplace(std::string{shared ? other_tenants : tenant}).first;
        made->second.shared = shared;
        pairs_ += shared ? 0 : 1;
        return made;
    }
};

}  // namespace seriesgate
