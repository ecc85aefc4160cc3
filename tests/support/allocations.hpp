/// Counts what a thread allocates, and lets it fail. Replaces operator new: include it in one file of a test program
/// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace seriesgate::testing {

struct allocations {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

inline thread_local allocations allocated_by_this_thread;
/// So many of the next ones of this thread fail.
inline thread_local std::uint64_t failing_allocations = 0;

/// There is no memory for as much at once as this.
inline thread_local std::size_t refused_allocation = static_cast<std::size_t>(-1);

/// What `action` allocates in this thread.
template <class Action>
allocations allocations_of(Action&& action) {
    const allocations before = allocated_by_this_thread;
    action();
    return {.count = allocated_by_this_thread.count - before.count,
            .bytes = allocated_by_this_thread.bytes - before.bytes};
}

inline void* counted_allocation(std::size_t size, std::size_t alignment) {
    if (failing_allocations > 0) {
        --failing_allocations;
        throw std::bad_alloc{};
    }
    ++allocated_by_this_thread.count;
    allocated_by_this_thread.bytes += size;
    // aligned_alloc wants a multiple of the alignment.
    if (size == 0) size = 1;
    if (size >= refused_allocation) throw std::bad_alloc{};
    void* const memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

}  // namespace seriesgate::testing

// All forms, for a sanitizer's library has its own of each and would be asked for what is left out here.
void* operator new(std::size_t size) {
    return seriesgate::testing::counted_allocation(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return seriesgate::testing::counted_allocation(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return operator new(size, alignment);
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return operator new(size, alignment);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return operator new(size);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return operator new(size, alignment);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept {
    std::free(memory);
}
