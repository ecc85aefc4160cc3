#include "http/worker.hpp"

#include <sys/eventfd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <chrono>

#include "net/async.hpp"

namespace seriesgate {
namespace {

constexpr auto rest_between_probes = std::chrono::milliseconds{100};

/// An always readable descriptor. Waiting for it queues behind all ready events, in the kernel's list and in Asio's; a
/// timer would skip the kernel's. Source: epoll_ctl(2), EPOLL_CTL_MOD; Linux, fs/eventpoll.c, ep_modify().
net::posix::stream_descriptor always_ready(net::io_context& io) {
    const int descriptor = ::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) throw boost::system::system_error{errno, boost::system::system_category(), "eventfd"};
    return net::posix::stream_descriptor{io, descriptor};
}

}  // namespace

net::awaitable<void> probe_delay(worker& of) {
    if (virtual_clock::installed() != nullptr) co_return;  // a virtual clock measures no delay
    net::posix::stream_descriptor probe = always_ready(of.io);
    async_timer rest{of.io};
    of.delay.begin_round(queue_delay::clock::now());
    for (;;) {
        auto [failed] = co_await probe.async_wait(net::posix::stream_descriptor::wait_read, no_throw);
        if (failed) co_return;
        const auto now = queue_delay::clock::now();
        of.last_turn = now;
        of.shared.metrics.queue_delay.observe(of.delay.end_round(now));
        of.delay.begin_round(of.delay.is_behind() ? now : now + rest_between_probes);
        if (of.delay.is_behind()) continue;
        rest.expires_at(now + rest_between_probes);
        auto [ended] = co_await rest.async_wait(no_throw);
        if (ended) co_return;
    }
}

}  // namespace seriesgate
