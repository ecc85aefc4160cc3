/// A number for each limit, small enough to be remembered with every refusal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace seriesgate {

/// Stands for the name of a limit as long as the process lives, whatever reloads there are.
using limit_number = std::uint16_t;

inline constexpr unsigned limit_number_bits = 10;
inline constexpr std::size_t limit_numbers_max = std::size_t{1} << limit_number_bits;

inline constexpr limit_number global_limit = 0;   ///< `global`
inline constexpr limit_number tenant_limit = 1;   ///< `tenant`: the one that each tenant has
inline constexpr limit_number unknown_limit = 2;  ///< `__unknown__`: none, see verdict::unknown
inline constexpr limit_number other_limit = 3;    ///< `__other__`: limits that found no number left
/// `__unavailable__`: none, the store that gates share has not answered. See told_outcome::withheld.
inline constexpr limit_number unavailable_limit = 4;
/// `exempt`: the one that each tenant has for what limit_rules::exempt selects. It refuses nothing by itself.
inline constexpr limit_number exempt_limit = 5;
/// `ignored-values`: the one that each tenant has for values of labels that tell no series apart. It refuses no series.
inline constexpr limit_number ignored_values_limit = 6;

/// What these stand for. No limit in the configuration may have such a name.
inline constexpr std::array<std::string_view, 7> own_limit_names{
    "global", "tenant", "__unknown__", "__other__", "__unavailable__", "exempt", "ignored-values"};

/// Gives the numbers. Threads: any; what a number stands for never changes.
class limit_names {
    mutable std::mutex lock_;
    std::deque<std::string> names_{own_limit_names.begin(), own_limit_names.end()};  // they stay where they are

  public:
    /// Of the limits with these names, in their order: those that they have had before, or new ones.
    std::vector<limit_number> numbers_of(const std::vector<std::string_view>& names);
    [[nodiscard]] const std::string& name_of(limit_number number) const;

  private:
    limit_number number_of(std::string_view name);
};

}  // namespace seriesgate
