/// A value that only the holder of its lock can reach.
#pragma once

#include <mutex>
#include <utility>

#include "core/fair_mutex.hpp"

namespace seriesgate {

/// Owns a T and its lock. There is no other way to the T than through lock(), so a function that takes a T& of one says
/// by that: the lock is held.
///
///     auto held = counts.lock();  // until the end of the block
///     held->book.find(...);
///
/// Threads: any.
template <class T, class Mutex = fair_mutex>
class guarded {
    Mutex mutex_;
    T value_;

  public:
    template <class... Arguments>
    explicit guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    /// Holds the lock for as long as it lives.
    class access {
        std::scoped_lock<Mutex> lock_;
        T& value_;

      public:
        explicit access(guarded& of) : lock_(of.mutex_), value_(of.value_) {}
        access(const access&) = delete;
        access& operator=(const access&) = delete;

        T& operator*() const noexcept { return value_; }
        T* operator->() const noexcept { return &value_; }
    };

    [[nodiscard]] access lock() { return access{*this}; }
};

}  // namespace seriesgate
