/// Figures in, lines out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "top/figures.hpp"
#include "top/line.hpp"
#include "top/view.hpp"

// Numbers and times as people read them.

namespace seriesgate::top {

/// `10:04:07`, in UTC as all that the gate writes.
std::string clock_text(std::chrono::sys_seconds when);

/// Of 100, rounded down: 100 is full. No more than 999.
std::uint64_t percent(std::uint64_t part, std::uint64_t whole);

/// `[####------]`: filled only if it is full.
std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns);

}  // namespace seriesgate::top

// The parts of a frame, each with as many lines as it has.

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
content top_part(const figures& known, std::size_t columns);
content budgets_part(const figures& known, std::size_t columns);
content refused_part(const figures& known, std::chrono::sys_seconds now, std::size_t columns);
content stores_part(const figures& known, std::size_t columns);

}  // namespace seriesgate::top

namespace seriesgate::top {

struct screen_size {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

struct frame {
    std::vector<line> lines;     ///< no more than the screen has rows, none wider than it
    std::size_t scroll_max = 0;  ///< of the part that is looked at: so far makes sense
    std::size_t page = 1;        ///< lines of it that are to be seen
};

/// A screen full. It shows as much of each part as there is room for; from 80x24 on some of every one.
frame make_frame(const moment& at, const view& seen, screen_size size);

/// All of it at once, the remedies too, without what is only of use to who can press keys. Rules to paste are not cut,
/// however long their lines are.
std::vector<line> make_report(const moment& at, std::size_t columns);

}  // namespace seriesgate::top
