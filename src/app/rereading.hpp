/// Looks again at files whose contents may change while the gate runs: certificates, keys, passwords.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <vector>

namespace seriesgate {

/// One or more files. Called now and then: reads them again if they have changed, and keeps what was there before,
/// and says so in the log, if they are no good. May block on files; may throw.
using file_check = std::function<void()>;

/// When to look: once a second, and when it is asked for.
class rereading {
    std::mutex guard_;
    std::condition_variable_any wake_;
    bool asked_ = false;

  public:
    /// Calls each now and then until it is time to stop. Threads: one, its own, for disks take their time.
    void run(const std::stop_token& stop, const std::vector<file_check>& checks);

    /// Has all of them looked at now. Waits for nothing. Threads: any.
    void ask();
};

}  // namespace seriesgate
