/// The figures of one budget.
#pragma once

#include <cstdint>

#include "limit/budget_name.hpp"
#include "limit/rules.hpp"

namespace seriesgate {

struct budget_pair;

/// One budget in one window.
struct budget_window_figures {
    std::uint64_t series_max = 0;
    std::uint64_t series_current = 0;
    std::uint64_t series_reserved = 0;  ///< room kept for incumbents; the largest number: all that is left
    std::uint64_t series_refused = 0;   ///< distinct, an estimate when they are many; in observe mode: would be refused
    bool refused_is_exact = true;       ///< series_refused is no estimate
};

struct budget_figures {
    budget_name name;
    limit_mode mode = limit_mode::enforce;
    bool overridden = false;  ///< the rules have maxima for this tenant or group
    budget_window_figures hourly;
    budget_window_figures daily;
};

/// Without a name: that takes a while, and is made after the lock has been given back.
budget_figures figures_of(const budget_pair& pair);

}  // namespace seriesgate
