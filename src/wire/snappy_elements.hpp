/// The elements that a snappy block consists of, behind its size.
/// Source: google/snappy format_description.txt, section 2.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bytes.hpp"

namespace seriesgate {

/// A literal, whose bytes stand behind its head, or a copy of bytes that have been decoded before.
struct snappy_element {
    std::uint64_t size = 0;   ///< bytes that it stands for, at least 1
    std::uint64_t reach = 0;  ///< how far back it copies from; 0 for a literal, and in a copy of a damaged block
    unsigned head_bytes = 0;  ///< what it takes itself, but for a literal's bytes
    bool is_literal = false;

    /// What it takes in the block.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return is_literal ? head_bytes + size : head_bytes; }
};

/// @param rest what is left of the block, not empty. If the element does not fit into it, its bytes() are more.
inline snappy_element read_snappy_element(bytes_view rest) noexcept {
    assert(!rest.empty());
    std::uint64_t head = 0;
    if (rest.size() >= sizeof head) {
        std::memcpy(&head, rest.data(), sizeof head);
    } else {
        std::memcpy(&head, rest.data(), rest.size());
    }
    const auto number = [head](unsigned bytes) { return head >> 8 & ((std::uint64_t{1} << 8 * bytes) - 1); };
    const std::uint64_t size = (head >> 2 & 63) + 1;
    switch (head & 3) {
        case 0: {
            constexpr unsigned short_max = 60;
            if (size <= short_max) return {.size = size, .head_bytes = 1, .is_literal = true};
            const auto size_bytes = static_cast<unsigned>(size - short_max);
            return {.size = number(size_bytes) + 1, .head_bytes = 1 + size_bytes, .is_literal = true};
        }
        case 1:
            return {.size = 4 + (head >> 2 & 7), .reach = (head >> 5 & 7) << 8 | number(1), .head_bytes = 2};
        case 2:
            return {.size = size, .reach = number(2), .head_bytes = 3};
        default:
            return {.size = size, .reach = number(4), .head_bytes = 5};
    }
}

}  // namespace seriesgate
