/// Turns figures into lines: numbers, parts of a frame, whole frames and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "top/figures.hpp"
#include "top/line.hpp"
#include "top/view.hpp"

namespace seriesgate::top {

/// Rounded down, so 100 means full. At most 999.
std::uint64_t percent(std::uint64_t part, std::uint64_t whole);

/// `[####------]`: all filled only if full.
std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns);

struct screen_size {
    std::size_t rows = 24;
    std::size_t columns = 80;
};

struct frame {
    std::vector<line> lines;     ///< fit the screen
    std::size_t scroll_max = 0;  ///< largest useful scroll of the focused part
    std::size_t page = 1;        ///< visible lines of the focused part
};

/// Fills the screen. Shows as much of each part as fits; from 80x24 on, some of every part.
frame make_frame(const moment& at, const view& seen, screen_size size);

/// Everything at once, with remedies, without hints for keys. Never cuts rules to paste, however long.
std::vector<line> make_report(const moment& at, std::size_t columns);

}  // namespace seriesgate::top
