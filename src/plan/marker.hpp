/// Series that say in the store that data is withheld, and by which budget.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "claim/reserve.hpp"
#include "limit/figures.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

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

// --- Which budgets withhold data, and whom to tell.

/// A tenant of which samples were refused.
struct refused_tenant {
    std::string limit;   ///< that refused them: the first of several that are spent
    std::string tenant;  ///< as its senders name it; empty: not at all
    time_point last;     ///< when it did so last
};

/// A marker for each budget that enforces, has refused something in its running window, and has no room for newcomers.
///
/// A tenant's budget has one under that tenant. A budget that is no tenant's has one under each tenant that its limit
/// has refused something in the window; if others were spent before it each time, under each tenant that any limit has.
/// The same goes for the budget that further tenants share, but for tenants that have one of their own. So a marker is
/// written only as senders have written themselves, and only where something is missing.
///
/// @param refused in any order, a pair of limit and tenant once.
/// @param reserve what claims leave of each maximum, in a fleet: there is no room above the rest.
/// @return markers_max at most, those with the most refused series. Texts that are the same once they are cut share
/// one, with the larger value.
marker_values find_withheld(const limiter_figures& figures, std::span<const refused_tenant> refused,
                            reserve_parts reserve);

// --- What is written to a store for one tenant.

struct marker_sample {
    marker_name name;
    std::optional<std::uint64_t> series_refused;  ///< nothing: nothing is withheld any more
    std::int64_t timestamp = 0;                   ///< in milliseconds since 1970
};

/// All of one tenant, a name once.
struct marker_request {
    std::string tenant;  ///< see marker_name
    std::vector<marker_sample> samples;
};

/// The body of a request of remote write 1, as a snappy block. Each sample is a series of its own:
/// `seriesgate_series_refused{gate="...",group="...",limit="...",tenant="...",window="hourly"}`, without the labels
/// that are empty. What ends one is a stale marker, as Prometheus writes it for a series that is gone.
/// @param gate which gate says so, valid UTF-8.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
std::string encode(const marker_request& request, std::string_view gate);

// --- What one store has been told, and so what it is to be told next.

/// Whether it is time to write: at the start, and when a minute of the clock begins, so that a marker ends with its
/// hour. A minute is well below the five that a query of Prometheus looks back: between two samples a marker is there.
class marker_turn {
    std::optional<std::chrono::sys_time<std::chrono::minutes>> last_;

  public:
    /// @return true once in each minute; also when the clock was set back.
    bool take(time_point now) noexcept {
        const auto minute = std::chrono::floor<std::chrono::minutes>(now);
        if (last_ == minute) return false;
        last_ = minute;
        return true;
    }
};

/// Remembers the markers that a store may have, so that each of them ends. A marker's samples get later and later even
/// if the clock is set back, for stores take no others.
///
/// Bounded: what a store could not be told the end of is forgotten after five minutes, for by then queries have.
class marker_book {
    struct told {
        std::int64_t last;      // timestamp of the last sample that it may have, in milliseconds
        time_point last_value;  // when it was last told that something is withheld
    };
    std::map<marker_name, told> told_;
    std::optional<std::string> last_tenant_;  // that the store was asked to take something of, when others were left

  public:
    /// What to send now: a value for each of these, and the end of all others that the store may have. One request for
    /// each tenant, first of those that were left out the last time.
    [[nodiscard]] std::vector<marker_request> next(const marker_values& values, time_point now);

    /// What has become of a request: the store has taken it, or may have. One that was not sent is not told of.
    void sent(const marker_request& request, bool is_taken, time_point now);

    /// Those behind this one have not been sent: a store that fails for one tenant may take what others have.
    void broke_off(const marker_request& at) { last_tenant_ = at.tenant; }

    /// How many markers the store may have.
    [[nodiscard]] std::size_t size() const noexcept { return told_.size(); }
};

}  // namespace seriesgate
