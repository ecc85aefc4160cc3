/// The parts of a frame, each with as many lines as it has.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "top/line.hpp"
#include "top/moment.hpp"

namespace seriesgate::top {

struct content {
    std::string heading;
    std::vector<line> lines;    ///< at least one
    std::size_t lines_min = 1;  ///< so many are wanted before others get more
};

/// Version, uptime, mode, where it is.
line title_line(const moment& at, std::size_t columns);
/// Of the global limit: the hour, the day.
std::vector<line> window_lines(const figures& known, std::chrono::sys_seconds now, std::size_t columns);

content findings_part(const figures& known, bool with_remedies, std::size_t columns);
content talkers_part(const figures& known, std::size_t columns);
content budgets_part(const figures& known, std::size_t columns);
content refused_part(const figures& known, std::chrono::sys_seconds now, std::size_t columns);
content stores_part(const figures& known, std::size_t columns);

}  // namespace seriesgate::top
