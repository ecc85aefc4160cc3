/// Which of the faults that are built into this program is made: see README.md. Included by each file that has one.
#pragma once

#include <mutex>
#include <type_traits>

namespace mutants {

extern int active;      // SERIESGATE_MUTANT; 0: none
extern bool recording;  // whether reach() notes what runs

void reach(int number) noexcept;
void not_in_a_constant();  // not constexpr: a fault where the compiler needs a value does not compile, and is dropped

/// Whether to make this fault.
constexpr bool is(int number) noexcept {
    if (std::is_constant_evaluated()) not_in_a_constant();
    if (recording) reach(number);
    return active == number;
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

}  // namespace mutants
