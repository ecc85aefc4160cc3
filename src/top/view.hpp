/// What of the figures is looked at, and how keys change it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "top/figures.hpp"
#include "top/keys.hpp"

namespace seriesgate::top {

/// A part of the screen; the one that is looked at scrolls, and gets the room that others leave.
enum class part : std::uint8_t { findings, talkers, budgets, refused, stores, count_ };

struct view {
    question asked{};
    part focus = part::talkers;
    std::size_t scroll = 0;  ///< lines of the part above those that are shown; frame.hpp bounds it
    bool shows_remedies = false;
    bool shows_help = false;
};

enum class wish : std::uint8_t {
    nothing,
    draw,     ///< it looks different now
    ask,      ///< that, and the gate is to be asked anew
    suspend,  ///< Ctrl-Z
    quit,
};

/// What a key does to the view, and what is to be done for it.
/// @param page lines that one page scrolls
wish press(view& seen, const key& pressed, std::size_t page);

}  // namespace seriesgate::top
