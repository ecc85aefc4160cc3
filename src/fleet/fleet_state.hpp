/// How a gate stands with its fleet.
#pragma once

#include <cstdint>
#include <string_view>

namespace seriesgate {

enum class fleet_state : std::uint8_t {
    joining,  ///< the store has not been heard yet
    joined,   ///< newcomers are asked about
    away,     ///< it was heard, and cannot be reached: newcomers get what shared.onUnavailable says
    count_
};

/// "joining", "joined", "away".
[[nodiscard]] constexpr std::string_view name_of(fleet_state state) noexcept {
    switch (state) {
        case fleet_state::joining:
            return "joining";
        case fleet_state::joined:
            return "joined";
        case fleet_state::away:
        case fleet_state::count_:
            break;
    }
    return "away";
}

}  // namespace seriesgate
