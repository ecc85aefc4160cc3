/// Series that say in the store that data is withheld, and by which budget.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "limit/verdict.hpp"

namespace seriesgate {

/// Markers that there are at a time. Of each tenant they are one request, so these are bounded, too.
inline constexpr std::size_t markers_max = 1000;

/// Of each value of a label, in bytes; what is longer is cut. As much as any store takes: VictoriaMetrics has had
/// bounds of 1 KiB, Mimir and Cortex have one of 2 KiB.
inline constexpr std::size_t marker_text_bytes_max = 1024;

/// One of them. Valid UTF-8 but for `tenant`, which is what its senders say.
struct marker_name {
    std::string tenant;     ///< under which it is written: the value of the tenant header; empty: without one
    std::string limit;      ///< `global`, `tenant` or a label limit's name
    std::string group;      ///< see group_text(); empty if the limit has none
    std::string of_tenant;  ///< whose budget it is, as figures show it; empty if it is nobody's
    refusing_window window = refusing_window::hourly;

    friend auto operator<=>(const marker_name&, const marker_name&) = default;
};

/// With how many distinct series the budget has refused in its window. Those of one tenant stand together.
using marker_values = std::map<marker_name, std::uint64_t>;

}  // namespace seriesgate
