/// What one store has been told, and so what it is to be told next.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "limit/window.hpp"
#include "marker/marker_request.hpp"

namespace seriesgate {

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
