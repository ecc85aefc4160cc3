/// A fair lock, a value behind a lock, and a value that many threads read without a lock while one replaces it.
#pragma once

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

/// Clang refuses code that keeps a reference longer than the lock, as `for (x : *guarded.lock())` does.
#ifdef __clang__
#define SERIESGATE_LIFETIME_BOUND [[clang::lifetimebound]]
#else
#define SERIESGATE_LIFETIME_BOUND
#endif

namespace seriesgate {

// --- Fair lock.

/// Grants the lock in order of arrival. A thread that releases a std::mutex and locks it again mostly gets it before a
/// waiting thread wakes up. Work in pieces, with the lock released in between, needs this fair one: nobody waits longer
/// than one piece of each earlier thread. Threads: any. Meets BasicLockable.
class fair_mutex {
    std::atomic<std::uint32_t> next_ticket_{0};
    std::atomic<std::uint32_t> serving_{0};

  public:
    void lock() noexcept {
        const std::uint32_t ticket = next_ticket_.fetch_add(1, std::memory_order_relaxed);
        for (;;) {
            const std::uint32_t serving = serving_.load(std::memory_order_acquire);
            if (serving == ticket) return;
            serving_.wait(serving, std::memory_order_acquire);
        }
    }

    void unlock() noexcept {
        serving_.fetch_add(1, std::memory_order_release);
        serving_.notify_all();
    }
};

// --- A value behind a lock.

/// Owns a T and its lock. Only lock() gives access to the T, so a function with a T& parameter shows that the lock is
/// held.
///
///     auto held = counts.lock();  // until the end of the block
///     held->budgets.find(...);
///
/// Threads: any.
template <class T, class Mutex = fair_mutex>
class guarded {
    Mutex mutex_;
    T value_;

  public:
    template <class... Arguments>
    explicit guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

    class access {
        std::scoped_lock<Mutex> lock_;
        T& value_;

      public:
        explicit access(guarded& of) : lock_(of.mutex_), value_(of.value_) {}

        T& operator*() const noexcept SERIESGATE_LIFETIME_BOUND { return value_; }
        T* operator->() const noexcept SERIESGATE_LIFETIME_BOUND { return &value_; }
    };

    [[nodiscard]] access lock() { return access{*this}; }
    /// What `step` returns under the lock.
    template <class Step>
    auto with_lock(const Step& step) {
        const auto held = lock();
        return step(*held);
    }
};

/// Holds one current T. Readers pin its slot while they use it (a request's lookups, some microseconds). The writer
/// puts a new T into an unpinned slot and makes it current.
///
/// Why not std::atomic<std::shared_ptr>: libstdc++ implements it with a lock bit, and every copy writes the control
/// block. Here a reader writes one counter, once a request.
/// Threads: read() any; publish() and reclaim() one at a time (the caller serialises them).
template <class T>
class published {
    struct alignas(64) slot {
        std::atomic<std::uint32_t> readers{0};
        std::unique_ptr<const T> value;
    };
    // One is current; the others are free or about to lose their last reader.
    static constexpr std::size_t slot_count = 4;

  public:
    /// Keeps the value alive and unchanged until destroyed. Short-lived: a writer may wait for it.
    class reader {
        slot* slot_;

      public:
        explicit reader(slot& pinned) noexcept : slot_(&pinned) {}
        reader(const reader&) = delete;
        reader& operator=(const reader&) = delete;
        ~reader() { slot_->readers.fetch_sub(1, std::memory_order_release); }

        const T& operator*() const noexcept SERIESGATE_LIFETIME_BOUND { return *slot_->value; }
        const T* operator->() const noexcept SERIESGATE_LIFETIME_BOUND { return slot_->value.get(); }
    };

    explicit published(std::unique_ptr<const T> first) { slots_[0].value = std::move(first); }

    /// Pins the current value. Lock-free: it retries only after a concurrent publish().
    [[nodiscard]] reader read() const noexcept {
        for (;;) {
            const auto index = current_.load();
            slot& pinned = slots_[index];
            // Pin first, then check again: the writer empties a slot only if it saw no reader after the slot had ceased
            // to be current. Sequential consistency orders the two steps of both sides.
            pinned.readers.fetch_add(1);
            if (current_.load() == index) return reader{pinned};
            pinned.readers.fetch_sub(1);
        }
    }

    /// Makes `next` current. Earlier readers keep their value.
    void publish(std::unique_ptr<const T> next) {
        assert(next);
        const auto old = current_.load();
        for (auto index = (old + 1) % slot_count;; index = (index + 1) % slot_count) {
            if (index == old || slots_[index].readers.load() != 0) continue;
            slots_[index].value = std::move(next);
            current_.store(index);
            return;
        }
    }

    /// Whether nobody reads a value that is not current. Whoever reads then began after the last publish().
    [[nodiscard]] bool is_quiet() const noexcept {
        for (std::size_t index = 0; index < slot_count; ++index)
            if (index != current_.load() && slots_[index].readers.load() != 0) return false;
        return true;
    }

    /// Returns values that are neither current nor pinned. The caller destroys them outside the writers' lock. Call it
    /// now and then.
    [[nodiscard]] std::array<std::unique_ptr<const T>, slot_count> reclaim() noexcept {
        std::array<std::unique_ptr<const T>, slot_count> retired;
        for (std::size_t index = 0; index < slot_count; ++index)
            if (index != current_.load() && slots_[index].readers.load() == 0)
                retired[index] = std::move(slots_[index].value);
        return retired;
    }

  private:
    mutable std::array<slot, slot_count> slots_;
    std::atomic<std::size_t> current_{0};
};

}  // namespace seriesgate
