/// What of the figures is looked at, and how keys change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/figures.hpp"

// What a terminal sends for keys.

namespace seriesgate::top {

enum class special : std::uint8_t { none, up, down, page_up, page_down, home, end, tab, back_tab, escape };

/// A letter as it is (also Ctrl-C, 0x03), or one of the special keys.
struct key {
    char letter = 0;
    special other = special::none;

    bool operator==(const key&) const = default;
};

/// Takes bytes as they come: a key may come in parts. What it does not know it passes over, whole.
/// Sources: ECMA-48, section 5.4; xterm's "Control Sequences", "PC-Style Function Keys".
class key_reader {
    std::string pending_;  // a sequence that is not complete; never longer than sequence_bytes_max

  public:
    static constexpr std::size_t sequence_bytes_max = 32;

    /// An escape character that comes last is the key, or the beginning of another one: the next bytes tell.
    std::vector<key> read(std::string_view bytes);
};

}  // namespace seriesgate::top

namespace seriesgate::top {

/// A part of the screen; the one that is looked at scrolls, and gets the room that others leave.
enum class part : std::uint8_t { findings, cardinality_tracker, budgets, refused, stores, count_ };

struct view {
    question asked{};
    part focus = part::cardinality_tracker;
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
