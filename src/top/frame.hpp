/// Figures in, lines out.
#pragma once

#include <cstddef>
#include <vector>

#include "top/line.hpp"
#include "top/moment.hpp"
#include "top/view.hpp"

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
