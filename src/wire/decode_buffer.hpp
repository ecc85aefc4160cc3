/// Room for a decompressed body, used again from request to request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace seriesgate {

/// Bytes that are not zeroed when the buffer grows; it never shrinks unless told.
class decode_buffer {
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;

  public:
    /// @return room for `size` bytes, contents undefined.
    char* reserve(std::size_t size) {
        if (size > capacity_) {
            const std::size_t grown = std::max(size, capacity_ + capacity_ / 2);
            shrink(0);  // the old contents are not needed: never hold both
            bytes_ = std::make_unique_for_overwrite<char[]>(grown);
            capacity_ = grown;
        }
        return bytes_.get();
    }

    /// Gives memory above `size` bytes back, so that one huge request is not held for ever.
    void shrink(std::size_t size) {
        if (capacity_ <= size) return;
        bytes_.reset();
        capacity_ = 0;
    }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
};

}  // namespace seriesgate
