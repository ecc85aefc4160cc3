/// What buffers keep from one request to the next.
#pragma once

#include <cstddef>

namespace seriesgate {

/// Of each buffer: enough for what real senders send, ten thousand series and their symbols.
inline constexpr std::size_t kept_bytes_max = 4u << 20;

/// The memory that a vector or string holds.
template <class Container>
std::size_t held_bytes(const Container& of) noexcept {
    return of.capacity() * sizeof(typename Container::value_type);
}

/// Gives the memory of a giant's buffer back; that of usual requests is kept. The contents are not needed any more.
template <class Container>
void give_back(Container& of, std::size_t bytes_max = kept_bytes_max) {
    if (held_bytes(of) > bytes_max) Container{}.swap(of);
}

}  // namespace seriesgate
