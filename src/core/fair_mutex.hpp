/// A lock that is given to threads in the order in which they asked for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace seriesgate {

/// A thread that gives a std::mutex back and takes it again at once mostly has it before a waiting one has woken up.
/// Work that is done in pieces, with the lock given back in between so that others get their turn, needs one that is
/// fair: here nobody waits for longer than one piece of everybody before.
///
/// Threads: any. Meets BasicLockable.
class fair_mutex {
    std::atomic<std::uint32_t> next_ticket_{0};
    std::atomic<std::uint32_t> serving_{0};

  public:
    fair_mutex() = default;
    fair_mutex(const fair_mutex&) = delete;
    fair_mutex& operator=(const fair_mutex&) = delete;

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

}  // namespace seriesgate
