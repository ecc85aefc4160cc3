/// Looks again at files whose contents may change while the gate runs: certificates, keys, passwords.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "core/synchronization.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"
#include "net/watched_file.hpp"

namespace seriesgate {

/// One or more files. Called now and then: reads them again if they have changed, and keeps what was there before,
/// and says so in the log, if they are no good. May block on files; may throw.
using file_check = std::function<void(const file_look&)>;

/// When to look: once a second, and when it is asked for.
class rereading {
    std::atomic<bool> is_asked_ = false;
    guarded<std::weak_ptr<async_event>> waits_;  // run(); goes with its event loop

  public:
    /// Calls each now and then. Spawn it once, on an event loop that may wait for disks.
    net::awaitable<void> run(std::vector<file_check> checks);

    /// Has all of them looked at now, and taken as they are: they are whole. Waits for nothing. Threads: any.
    void ask();
};

}  // namespace seriesgate
