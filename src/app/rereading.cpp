#include "app/rereading.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::chrono::seconds interval{1};

void check(const file_check& one) noexcept {
    try {
        one();
    } catch (const std::exception& error) {  // out of memory: looked at again in a second
        log::error("files not looked at", {{"err", error.what()}});
    }
}

}  // namespace

void reread_files(const std::stop_token& stop, const std::vector<file_check>& checks) {
    std::mutex idle;
    std::condition_variable_any wake;
    std::unique_lock lock{idle};
    while (!wake.wait_for(lock, stop, interval, [] { return false; }) && !stop.stop_requested())
        for (const file_check& each : checks) check(each);
}

}  // namespace seriesgate
