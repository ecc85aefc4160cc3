#include "core/bytes.hpp"

#include <sys/mman.h>

#include <new>

namespace seriesgate {
namespace {

constexpr std::size_t page_bytes = 4096;

}  // namespace

page_memory::page_memory(std::size_t size) : data_(nullptr, release{size}) {
    assert(size > 0);
    void* const made = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw std::bad_alloc{};
    // Advice only: without huge pages it is merely slower. Below two of them they would waste memory.
    if (size >= 2 * huge_page_bytes) ::madvise(made, size, MADV_HUGEPAGE);
    data_.reset(made);
}

void page_memory::release::operator()(void* data) const noexcept {
    ::munmap(data, size);
}

void page_memory::populate(void* from, std::size_t size) {
    assert(from != nullptr);
#ifdef MADV_POPULATE_WRITE
    if (::madvise(from, size, MADV_POPULATE_WRITE) == 0) return;
#endif
    // Linux before 5.14. Volatile: the compiler must not see that the written value is there already.
    auto* const bytes = static_cast<volatile char*>(from);
    for (std::size_t i = 0; i < size; i += page_bytes) bytes[i] = 0;
}

}  // namespace seriesgate
