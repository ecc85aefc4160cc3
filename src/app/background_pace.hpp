/// Long work on a thread of its own that others hardly notice.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace seriesgate {

/// Keeps a thread to a tenth of a core: it rests for nine times as long as it has worked. Why not a low priority:
/// whoever has a lock that requests want must not be the last one to get a processor. A thread that rests does so where
/// it has none.
///
/// Threads: the one that works; it makes the pace, too.
class background_pace {
    std::stop_token stop_;
    std::mutex idle_;
    std::condition_variable_any wake_;
    std::chrono::nanoseconds rested_for_;  // CPU time of the thread that it has rested for already

  public:
    static constexpr int rests_per_work = 9;

    /// @param stop from then on nothing is rested for: what is begun is to end soon.
    explicit background_pace(std::stop_token stop);
    background_pace(const background_pace&) = delete;
    background_pace& operator=(const background_pace&) = delete;

    /// To be called now and then, without a lock. Rests for what has been worked since the last time, if it is worth
    /// it.
    void rest();
};

}  // namespace seriesgate
