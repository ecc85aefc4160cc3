/// What the user looks at, and how keys change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "top/figures.hpp"

// --- Keys.

namespace seriesgate::top {

enum class special : std::uint8_t { none, up, down, page_up, page_down, home, end, tab, back_tab, escape };

/// A plain letter (also Ctrl-C, 0x03), or a special key.
struct key {
    char letter = 0;
    special other = special::none;

    bool operator==(const key&) const = default;
};

/// Decodes keys from bytes, which may arrive in parts. Skips unknown sequences as a whole. Sources: ECMA-48, section
/// 5.4; xterm's "Control Sequences", "PC-Style Function Keys".
class key_reader {
    std::string pending_;  // an incomplete sequence; at most sequence_bytes_max

  public:
    static constexpr std::size_t sequence_bytes_max = 32;

    /// A final escape character is the key, or starts a sequence: the next bytes decide.
    std::vector<key> read(std::string_view bytes);
};

/// A part of the screen. The focused part scrolls and gets the room that others leave.
enum class part : std::uint8_t { findings, top, budgets, refused, stores, count_ };

struct view {
    question asked{};
    part focus = part::top;
    std::size_t scroll = 0;  ///< lines hidden above; frame.hpp bounds it
    bool shows_remedies = false;
    bool shows_help = false;
};

enum class wish : std::uint8_t {
    nothing,
    draw,     ///< redraw
    ask,      ///< redraw, and ask the gate again
    suspend,  ///< Ctrl-Z
    quit,
};

/// Applies a key to the view. @param page lines that a page scrolls. @return what the caller must do
wish press(view& seen, const key& pressed, std::size_t page);

}  // namespace seriesgate::top
