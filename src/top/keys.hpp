/// What a terminal sends for keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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
