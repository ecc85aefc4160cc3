#include "http/worker.hpp"

#include <sys/eventfd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <cstddef>

#include "net/descriptor.hpp"

namespace seriesgate {
namespace {

constexpr auto rest_between_probes = std::chrono::milliseconds{100};

/// An always readable descriptor. Waiting for it queues behind all ready events, in the kernel's list and in Asio's; a
/// timer would skip the kernel's. Source: epoll_ctl(2), EPOLL_CTL_MOD; Linux, fs/eventpoll.c, ep_modify().
net::posix::stream_descriptor always_ready(net::io_context& io) {
    descriptor made{::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!made.open()) throw boost::system::system_error{errno, boost::system::system_category(), "eventfd"};
    net::posix::stream_descriptor watched{io, made.get()};
    made.release();
    return watched;
}

using namespace std::chrono_literals;

/// After its last answer a sender may send this long and this much, so that it reads the answer and not a reset. Twice
/// the default of server.maxRequestBytes.
constexpr auto linger_limit = 2s;
constexpr std::size_t linger_bytes_max = 64 << 20;

/// Buffer of an idle connection: fits a usual header, so the next read gets the body.
constexpr std::size_t idle_read_bytes = 1024;

/// In a takeover, an idle or new connection stays open this long. A busy sender's next answer announces the close, so
/// no request meets a closed connection.
constexpr auto next_request_grace = 200ms;
constexpr auto first_request_grace = 1s;

std::chrono::nanoseconds wait_limit(const served_connection& peer) {
    if (!peer.thread.shared.life.in_takeover()) return peer.thread.shared.settings.idle_timeout;
    return peer.lease.has_asked() ? std::chrono::nanoseconds{next_request_grace} : first_request_grace;
}

std::string certificate_name_of(const timed_stream& peer) {
    const tls_session* const tls = peer.tls();
    return tls != nullptr ? tls->peer_identity() : std::string{};
}

}  // namespace

bool is_trusted(const std::optional<net::ip::address>& peer, const server_config& settings) {
    return peer && contains(settings.trusted_proxies, core_address(*peer));
}

std::optional<net::ip::address> leased_stream::sender_address() const {
    return lease.sender() ? lease.sender() : ip_address_of(stream.peer());
}

std::string leased_stream::sender_name() const {
    if (const auto known = sender_address()) return known->to_string();
    return is_unix(stream.peer()) ? "unix" : "";
}

net::awaitable<void> probe_delay(worker& of) {
    if (virtual_clock::installed() != nullptr) co_return;  // a virtual clock measures no delay
    net::posix::stream_descriptor probe = always_ready(of.io);
    of.delay.begin_round(queue_delay::clock::now());
    for (;;) {
        auto [failed] = co_await probe.async_wait(net::posix::stream_descriptor::wait_read, no_throw);
        if (failed) co_return;
        const auto now = queue_delay::clock::now();
        of.last_turn = now;
        of.shared.metrics.queue_delay.observe(of.delay.end_round(now));
        of.delay.begin_round(of.delay.is_behind() ? now : now + rest_between_probes);
        if (of.delay.is_behind()) continue;
        co_await sleep_until(now + rest_between_probes);
    }
}

served_connection::served_connection(sender_connection from, service& of)
    : leased_stream(std::move(from)),
      sender(sender_name()),
      is_of_proxy(!of.thread.shared.settings.trusted_proxies.empty() &&
                  is_trusted(sender_address(), of.thread.shared.settings)),
      certificate_name(certificate_name_of(stream)),
      offered(of),
      thread(of.thread) {
    buffer.commit(net::buffer_copy(buffer.prepare(from.read_ahead.size()), net::buffer(from.read_ahead)));
    thread.senders.enter(stream, may_wake);  // last: the destructor leaves only if this has run
}

net::awaitable<bool> wait_for_request(served_connection& peer) {
    if (peer.buffer.size() != 0) {  // pipelined: give other connections a turn
        co_await net::post(peer.stream.get_executor(), net::use_awaitable);
        co_return peer.lease.enter(connection_stage::receiving);
    }
    if (!peer.lease.enter(connection_stage::waiting)) co_return false;
    if (peer.buffer.capacity() > idle_read_bytes) peer.buffer = flat_buffer{read_buffer_bytes_max};
    error_code error = net::error::operation_aborted;
    while (error == net::error::operation_aborted) {  // only the begin of a takeover cancels the read
        peer.may_wake = true;
        peer.allow(wait_limit(peer));
        error = co_await read_more(peer.stream, peer.buffer, idle_read_bytes);
        peer.may_wake = false;
    }
    if (!peer.thread.shared.life.in_takeover()) peer.note_end(error, connection_wait::request);
    if (error) co_return false;
    co_return peer.lease.enter(connection_stage::receiving);
}

bool is_to_be_passed_on(const served_connection& peer) {
    const char first = text_of(peer.buffer).front();
    return peer.offered.pass_on && first != 'G' && first != 'H';  // GET, HEAD
}

void pass_on(served_connection& peer) {
    peer.offered.pass_on(std::move(peer).release(std::string{text_of(peer.buffer)}));
}

net::awaitable<void> linger(served_connection& peer) {
    if (!peer.lease.enter(connection_stage::waiting)) co_return;
    peer.stream.shutdown_send();
    peer.allow(linger_limit);
    for (std::size_t unread = 0; unread < linger_bytes_max; unread += peer.buffer.size()) {
        peer.buffer.clear();
        const error_code error = co_await read_more(peer.stream, peer.buffer, body_read_bytes);
        peer.note_end(error, connection_wait::ending);
        if (error) co_return;
    }
}

}  // namespace seriesgate
