/// Memory of whole pages for filters: zeroed, and in huge pages where the system has them.
#pragma once

#include <cstddef>
#include <utility>

namespace seriesgate {

/// A filter of a hundred megabytes is looked at in random places: with pages of 4 KiB every look would miss the
/// processor's page tables too. Fresh pages are zero, so nothing is written only to be overwritten by a load.
class page_memory {
    void* data_ = nullptr;
    std::size_t size_ = 0;

  public:
    /// Reserves `size` zero bytes; a page is there once it is touched. Throws std::bad_alloc.
    explicit page_memory(std::size_t size);
    page_memory(page_memory&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    page_memory& operator=(page_memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~page_memory();

    /// Makes all pages be there now, so that no request waits for one.
    void populate();

    [[nodiscard]] void* data() const noexcept { return data_; }
};

}  // namespace seriesgate
