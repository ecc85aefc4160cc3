/// Markers: series written to the store to show which budget refuses data.
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

#include "limit/figures.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// Markers at a time. Each tenant's markers are one request, so requests are bounded too.
inline constexpr std::size_t markers_max = 1000;

/// Bytes of a label value; longer ones are cut. All stores accept that much: VictoriaMetrics has had bounds of 1 KiB,
/// Mimir and Cortex have 2 KiB.
inline constexpr std::size_t marker_text_bytes_max = 1024;

/// A marker's identity. Valid UTF-8 except `tenant`, which is what senders sent.
struct marker_name {
    std::string tenant;     ///< value of the tenant header to write under; empty: no header
    std::string limit;      ///< `global`, `tenant` or a label limit's name
    std::string group;      ///< see group_text(); empty without groups
    std::string of_tenant;  ///< the budget's tenant as in the figures; empty if none
    refusing_window window = refusing_window::hourly;

    friend auto operator<=>(const marker_name&, const marker_name&) = default;
};

/// Distinct series that the budget refused in its window, by marker. Names of one tenant are adjacent.
using marker_values = std::map<marker_name, std::uint64_t>;

// --- Which budgets refuse data, and which tenants to inform.

/// A tenant with refused samples.
struct refused_tenant {
    std::string limit;   ///< the limit that refused them: the first of several full ones
    std::string tenant;  ///< as senders name it; empty: without a name
    time_point last;     ///< time of the last refusal
};

/// Makes a marker for each enforcing budget that refused something in its running window and has no room for new
/// series.
///
/// A tenant's budget has a marker under that tenant. Another budget has one under each tenant that its limit refused in
/// the window. If other limits always refused first, it has one under each tenant refused by any limit. The tenants'
/// overflow budget follows the same rule, without tenants that have their own budget. So markers appear only under
/// names that senders used, and only where data is missing.
/// @param refused in any order; each pair of limit and tenant once.
/// @return at most markers_max, with the most refused series. Equal texts after cutting share one marker with the
/// larger value.
marker_values find_withheld(const limiter_figures& figures, std::span<const refused_tenant> refused);

// --- Requests to the store.

struct marker_sample {
    marker_name name;
    std::optional<std::uint64_t> series_refused;  ///< nothing: ends the marker
    std::int64_t timestamp = 0;                   ///< milliseconds since 1970
};

/// All markers of one tenant, each name once.
struct marker_request {
    std::string tenant;  ///< see marker_name
    std::vector<marker_sample> samples;
};

/// Encodes a remote write 1 request as a snappy block. Each sample is a series of its own:
/// `seriesgate_series_refused{gate="...",group="...",limit="...",tenant="...",window="hourly"}`, without empty labels.
/// A stale marker ends a series, as in Prometheus.
/// @param gate this gate's name, valid UTF-8.
/// Source: prometheus/prometheus model/value/value.go, StaleNaN.
std::string encode(const marker_request& request, std::string_view gate);

// --- Which markers one store has, and when to write next.

/// Decides when to write: at the start, and when a minute of the clock begins, so that a marker ends with its hour.
/// Prometheus queries look back five minutes, so a marker shows without gaps.
class marker_turn {
    std::optional<std::chrono::sys_time<std::chrono::minutes>> last_;

  public:
    /// @return true once in each minute; also after the clock was set back.
    bool take(time_point now) noexcept {
        const auto minute = std::chrono::floor<std::chrono::minutes>(now);
        if (last_ == minute) return false;
        last_ = minute;
        return true;
    }
};

/// Remembers the markers that a store may have, so that each gets an end. Timestamps of a marker only grow, even if the
/// clock is set back: stores reject others. A marker whose end cannot be delivered is forgotten after five minutes,
/// when queries have forgotten it too.
class written_markers {
    struct written {
        std::int64_t last;      // milliseconds: the last sample that the store may have
        time_point last_value;  // time of the last value
    };
    std::map<marker_name, written> written_;
    std::optional<std::string> last_tenant_;  // where broke_off() stopped

  public:
    /// The requests to send now: the given values, and an end for every other marker of the store. One request per
    /// tenant; those left out last time come first.
    [[nodiscard]] std::vector<marker_request> next(const marker_values& values, time_point now);

    /// Notes that a request was sent. Do not call it for requests that were not sent.
    /// @param is_taken false: the store may have it nevertheless.
    void sent(const marker_request& request, bool is_taken, time_point now);

    /// Notes that the requests after this one were not sent. A store that fails for one tenant may accept others.
    void broke_off(const marker_request& at) { last_tenant_ = at.tenant; }

    /// Markers that the store may have.
    [[nodiscard]] std::size_t size() const noexcept { return written_.size(); }
};

}  // namespace seriesgate
