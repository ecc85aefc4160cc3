/// Room for a decompressed body, used again from request to request.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace seriesgate {

/// Bytes that are not zeroed when the buffer grows. It keeps its memory until give_back (core/kept_memory.hpp) takes
/// it.
class decode_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;

  public:
    using value_type = char;

    /// @return room for `size` bytes, contents undefined: what was there is gone.
    char* room_for(std::size_t size) {
        if (size > capacity_) {
            const std::size_t grown = std::max(size, capacity_ + capacity_ / 2);
            decode_buffer{}.swap(*this);  // first: never hold both
            bytes_ = std::make_unique_for_overwrite<char[]>(grown);
            capacity_ = grown;
        }
        assert(size <= capacity_);
        return bytes_.get();
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    void swap(decode_buffer& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(capacity_, other.capacity_);
    }
};

}  // namespace seriesgate
