/// Looks again at files whose contents may change while the gate runs: certificates, keys, passwords.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

namespace seriesgate {

/// One or more files. Called now and then: reads them again if they have changed, and keeps what was there before,
/// and says so in the log, if they are no good. May block on files; may throw.
using file_check = std::function<void()>;

/// Calls each, once a second, until it is time to stop. Threads: one, its own, for disks take their time.
void reread_files(const std::stop_token& stop, const std::vector<file_check>& checks);

}  // namespace seriesgate
