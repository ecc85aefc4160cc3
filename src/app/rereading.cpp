#include "app/rereading.hpp"

#include <chrono>
#include <exception>

#include "log/log.hpp"

namespace seriesgate {
namespace {

constexpr std::chrono::seconds rereading_interval{1};

void check(const file_check& one) noexcept {
    try {
        one();
    } catch (const std::exception& error) {  // out of memory: looked at again in a second
        log::error("files not looked at", {{"err", error.what()}});
    }
}

}  // namespace

void rereading::run(const std::stop_token& stop, const std::vector<file_check>& checks) {
    while (!stop.stop_requested()) {
        for (const file_check& each : checks) check(each);
        std::unique_lock held{guard_};
        wake_.wait_for(held, stop, rereading_interval, [this] { return asked_; });
        asked_ = false;
    }
}

void rereading::ask() {
    {
        const std::scoped_lock held{guard_};
        asked_ = true;
    }
    wake_.notify_one();
}

}  // namespace seriesgate
