#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "top/figures.hpp"

namespace seriesgate::top {

/// All that is known when a frame is made.
struct moment {
    std::string url;                   ///< of the gate
    std::optional<figures> known{};    ///< its last answers; nothing before the first
    std::chrono::sys_seconds taken{};  ///< when they came
    std::string fault{};               ///< why there are no newer ones; empty while the gate answers
    std::chrono::sys_seconds now{};
};

}  // namespace seriesgate::top
