/// Asio's timers by the process' own clock.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>

#include "net/asio.hpp"
#include "system/clock.hpp"

/// What Asio's event loop sleeps for until a timer is due: the whole of it, or what a test that owns the time says.
template <>
struct boost::asio::wait_traits<seriesgate::monotonic_clock> {
    using clock = seriesgate::monotonic_clock;

    static clock::duration to_wait_duration(const clock::duration& until) {
        if (const auto* const owned = seriesgate::virtual_clock::installed()) [[unlikely]]
            return owned->wait_for(until);
        return until;
    }
    static clock::duration to_wait_duration(const clock::time_point& at) { return to_wait_duration(at - clock::now()); }
};

namespace seriesgate {

/// Waits on a coroutine's behalf. Every timer of the process is one of these.
using async_timer = net::basic_waitable_timer<monotonic_clock>;

}  // namespace seriesgate
