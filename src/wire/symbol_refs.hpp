/// References to the symbols of remote write 2, as they stand on the wire. Internal to wire.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>

#include "core/bytes.hpp"
#include "wire/sample_records.hpp"

namespace seriesgate {

/// A reference as most are: below 2^14, in one or two bytes.
inline const char* read_ref(const char* at, const char* end, std::uint64_t& ref) noexcept {
    assert(at < end);
    const auto byte = [](const char* p) { return static_cast<unsigned char>(*p); };
    if (byte(at) < 0x80) {
        ref = byte(at);
        return at + 1;
    }
    if (end - at >= 2 && byte(at + 1) < 0x80) {
        ref = (byte(at) & 0x7fu) | static_cast<unsigned>(byte(at + 1)) << 7;
        return at + 2;
    }
    return read_varint(at, end, ref);
}

/// A reference of one or two bytes, told without a branch: which it is has no pattern.
struct short_ref {
    static constexpr std::uint32_t end = 1 << 14;

    std::uint32_t value;  ///< from `end` on: it has more bytes
    const char* after;

    explicit short_ref(const char* at) noexcept {
        std::uint16_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        const std::uint32_t first = bytes & 0xffu;
        const std::uint32_t second = bytes >> 8;
        const std::uint32_t more = first >> 7;
        value = first + (((second << 7) - 0x80u) & (0u - more));  // the first byte's high bit is no part of it
        after = at + 1 + more;
    }
};

/// Calls `take(ref)` for each reference of a packed run.
template <class Take>
fault for_each_ref(bytes_view packed, Take take) noexcept(noexcept(take(0))) {
    const char* const end = packed.data() + packed.size();
    for (const char* at = packed.data(); at != end;) {
        const char* const start = at;
        std::uint64_t ref = 0;
        at = read_ref(at, end, ref);
        if (at == nullptr) return {wire_errc::packed_truncated, start};
        take(ref);
    }
    return {};
}

}  // namespace seriesgate
