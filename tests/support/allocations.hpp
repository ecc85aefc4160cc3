/// Counts what a thread allocates, and lets it run out of memory. Replaces operator new and aligned_alloc: include it
/// in one file of a test program only.
#pragma once

#include <algorithm>
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

/// Lets one allocation of this thread fail while it lives, the one after so many.
class failing_allocation {
    static inline thread_local failing_allocation* of_this_thread_ = nullptr;
    std::uint64_t after_;
    bool has_failed_ = false;

  public:
    explicit failing_allocation(std::uint64_t after) : after_(after) { of_this_thread_ = this; }
    failing_allocation(const failing_allocation&) = delete;
    failing_allocation& operator=(const failing_allocation&) = delete;
    ~failing_allocation() { of_this_thread_ = nullptr; }

    /// Whether there were that many.
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

    static bool fails_now() noexcept {
        if (failing_allocations > 0) {
            --failing_allocations;
            return true;
        }
        failing_allocation* const one = of_this_thread_;
        if (one == nullptr || one->has_failed_) return false;
        if (one->after_ == 0) return one->has_failed_ = true;
        --one->after_;
        return false;
    }
};

/// Acts once; one allocation fails, the one after so many. @return whether there were as many.
template <class Act>
bool fails_once(std::uint64_t after, const Act& act) {
    const failing_allocation memory{after};
    try {
        act();
    } catch (const std::bad_alloc&) {
    }
    return memory.has_failed();
}

/// @return nothing when there is no memory.
inline void* aligned_memory(std::size_t size, std::size_t alignment) noexcept {
    void* memory = nullptr;
    if (size >= refused_allocation || failing_allocation::fails_now()) return nullptr;
    return ::posix_memalign(&memory, std::max(alignment, sizeof(void*)), std::max<std::size_t>(size, 1)) == 0 ? memory
                                                                                                              : nullptr;
}

/// @return nothing when there is no memory.
inline void* counted_allocation(std::size_t size, std::size_t alignment) noexcept {
    void* const memory = aligned_memory(size, alignment);
    if (memory == nullptr) return nullptr;
    ++allocated_by_this_thread.count;
    allocated_by_this_thread.bytes += size;
    return memory;
}

inline void* counted_or_thrown(std::size_t size, std::size_t alignment) {
    void* const memory = counted_allocation(size, alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

}  // namespace seriesgate::testing

/// What Asio's operations are made in. It may fail; it is not counted, for Asio keeps that memory.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return seriesgate::testing::aligned_memory(size, alignment);
}

// All forms, for a sanitizer's library has its own of each and would be asked for what is left out here.
void* operator new(std::size_t size) {
    return seriesgate::testing::counted_or_thrown(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return seriesgate::testing::counted_or_thrown(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return seriesgate::testing::counted_allocation(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return seriesgate::testing::counted_allocation(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size) {
    return operator new(size);
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return operator new(size, alignment);
}
void* operator new[](std::size_t size, const std::nothrow_t& otherwise) noexcept {
    return operator new(size, otherwise);
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return seriesgate::testing::counted_allocation(size, static_cast<std::size_t>(alignment));
}
// GCC 12 takes what is inlined here for the end of memory that is not ours.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
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
