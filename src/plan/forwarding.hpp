/// What becomes of a request's body.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace seriesgate {

enum class forwarding : std::uint8_t {
    unchanged,   ///< nothing refused: the sender's own bytes
    spliced,     ///< the request without what was refused
    translated,  ///< what was kept, from remote write 2 to 1
    nothing,     ///< all was refused or left out: the upstream is not asked
    count_
};

/// As metrics show it.
constexpr std::string_view name_of(forwarding what) noexcept {
    constexpr std::string_view names[] = {"unchanged", "spliced", "translated", "none"};
    static_assert(std::size(names) == static_cast<std::size_t>(forwarding::count_));
    return what < forwarding::count_ ? names[static_cast<std::size_t>(what)] : std::string_view{};
}

/// Whether what is sent is not what the sender has sent.
constexpr bool is_rewritten(forwarding what) noexcept {
    return what == forwarding::spliced || what == forwarding::translated;
}

}  // namespace seriesgate
