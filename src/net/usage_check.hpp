/// Asserts how a socket is used. In a build without assertions there is nothing of it.
#pragma once

#include <cassert>
#include <cstdint>
#include <thread>

namespace seriesgate {

/// Operations of one kind come one after the other; one of each kind may be pending at a time.
enum class operation : std::uint8_t { read, write };

#ifdef NDEBUG

struct usage_check {
    void begin(operation) noexcept {}
    void end(operation) noexcept {}
    void require_idle() const noexcept {}
};

#else

/// Every operation begins and ends on the thread of the first one.
class usage_check {
    bool pending_[2] = {};
    std::thread::id thread_{};

  public:
    void begin(operation kind) noexcept {
        if (thread_ == std::thread::id{}) thread_ = std::this_thread::get_id();
        assert(thread_ == std::this_thread::get_id());
        assert(!pending(kind));
        pending(kind) = true;
    }
    void end(operation kind) noexcept {
        assert(thread_ == std::this_thread::get_id());
        assert(pending(kind));
        pending(kind) = false;
    }
    void require_idle() const noexcept { assert(!pending_[0] && !pending_[1]); }

  private:
    bool& pending(operation kind) noexcept { return pending_[static_cast<int>(kind)]; }
};

#endif

}  // namespace seriesgate
