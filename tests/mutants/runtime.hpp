/// Which of the faults that are built into this program is made: see README.md. Included by each file that has one.
#pragma once

namespace injected {

extern int active;      // SERIESGATE_MUTANT; 0: none
extern bool recording;  // whether reach() notes what runs

void reach(int number) noexcept;

inline bool is_active(int number) noexcept {
    if (recording) reach(number);
    return active == number;
}

/// Whether to make this fault. Where the compiler needs the value it does not compile, and the fault is dropped:
/// constexpr, for functions that are, but never a constant.
constexpr bool is(int number) noexcept {
    return number < 0 ? false : is_active(number);
}

/// A lock, but for the fault of that number.
template <class Mutex>
class lock_unless {
    Mutex& mutex_;
    bool held_;

  public:
    lock_unless(int number, Mutex& mutex) : mutex_(mutex), held_(!is(number)) {
        if (held_) mutex_.lock();
    }
    lock_unless(const lock_unless&) = delete;
    lock_unless& operator=(const lock_unless&) = delete;
    ~lock_unless() {
        if (held_) mutex_.unlock();
    }
};

}  // namespace injected
