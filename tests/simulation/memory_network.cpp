#include "simulation/memory_network.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cassert>
#include <cstring>
#include <utility>

#include "net/async.hpp"
#include "net/socket.hpp"

namespace seriesgate::testing {

/// Handlers run from the network's loop, and go from there to their own: never within the call that starts them.
void memory_end::complete(erased_handler done, error_code error, std::size_t bytes) {
    net::post(network_.loop_, [done = std::move(done), error, bytes]() mutable { done(error, bytes); });
}

void memory_end::connect(const endpoint& to, erased_handler done) {
    is_open_ = true;  // one that was closed is opened anew
    is_reset_ = reset_is_news_ = sends_no_more_ = peer_sends_no_more_ = false;
    inbox_.clear();
    peer_.reset();
    const std::string where = endpoint_text(to);
    remote_ = to;
    if (network_.black_holes.contains(where)) {
        connect_ = std::move(done);
        return;
    }
    const auto found = network_.listeners_.find(where);
    if (found == network_.listeners_.end()) return complete(std::move(done), net::error::connection_refused);
    auto other = network_.make_end(to);
    other->remote_ = local_;
    other->peer_ = weak_from_this();
    peer_ = other;
    found->second->take(std::move(other));
    complete(std::move(done), {});
}

void memory_end::read_some(net::mutable_buffer into, erased_handler done) {
    assert(!read_);
    read_ = pending_read{into, std::move(done)};
    look_at_read();
}

void memory_end::wait_readable(erased_handler done) {
    assert(!read_);
    read_ = pending_read{{}, std::move(done), true};
    look_at_read();
}

void memory_end::write_some(std::string_view bytes, erased_handler done) {
    assert(!write_);
    write_ = pending_write{std::string{bytes}, std::move(done)};
    look_at_write();
}

std::size_t memory_end::read_now(net::mutable_buffer into, error_code& error) {
    error = {};
    if (!is_open_)
        error = net::error::bad_descriptor;
    else if (inbox_.empty() && std::exchange(reset_is_news_, false))
        error = net::error::connection_reset;
    else if (inbox_.empty())
        error = peer_sends_no_more_ || is_reset_ ? error_code{net::error::eof} : net::error::would_block;
    if (error) return 0;
    const std::size_t bytes = std::min(into.size(), inbox_.size());
    std::memcpy(into.data(), inbox_.data(), bytes);
    inbox_.erase(0, bytes);
    if (const auto peer = peer_.lock()) peer->look_at_write();
    return bytes;
}

std::size_t memory_end::write_now(std::string_view bytes, error_code& error) {
    error = {};
    const auto peer = peer_.lock();
    if (!is_open_)
        error = net::error::bad_descriptor;
    else if (std::exchange(reset_is_news_, false))
        error = net::error::connection_reset;
    else if (is_reset_ || sends_no_more_)
        error = net::error::broken_pipe;
    else if (peer && peer->is_open_ && peer->inbox_.size() >= peer->window)
        error = net::error::would_block;
    if (error) return 0;
    if (!peer || !peer->is_open_) {  // the other host answers with a reset
        break_off();
        return bytes.size();
    }
    const std::size_t taken = std::min(bytes.size(), peer->window - peer->inbox_.size());
    peer->inbox_.append(bytes.substr(0, taken));
    peer->look_at_read();
    return taken;
}

/// What is pending is taken out before anything is done for it: reading and writing look at what the other end waits
/// for.
void memory_end::look_at_read() {
    if (!read_ || (read_->only_waits && is_quiet())) return;
    pending_read one = std::move(*std::exchange(read_, std::nullopt));
    error_code error;
    const std::size_t bytes = one.only_waits ? 0 : read_now(one.into, error);
    if (error == net::error::would_block)
        read_ = std::move(one);
    else
        complete(std::move(one.done), error, bytes);
}

void memory_end::look_at_write() {
    if (!write_) return;
    pending_write one = std::move(*std::exchange(write_, std::nullopt));
    error_code error;
    const std::size_t bytes = write_now(one.bytes, error);
    if (error == net::error::would_block)
        write_ = std::move(one);
    else
        complete(std::move(one.done), error, bytes);
}

void memory_end::cancel() {
    constexpr auto aborted = net::error::operation_aborted;
    if (read_) complete(std::exchange(read_, std::nullopt)->done, aborted);
    if (write_) complete(std::exchange(write_, std::nullopt)->done, aborted);
    if (connect_) complete(*std::exchange(connect_, std::nullopt), aborted);
}

/// What has come before is still there to be read. After the peer's end a reset is no news to a reader, as in Linux.
void memory_end::break_off() {
    if (!is_open_) return;
    is_reset_ = true;
    reset_is_news_ = !peer_sends_no_more_;
    look_at_read();
    look_at_write();
}

void memory_end::hear_no_more() {
    peer_sends_no_more_ = true;
    look_at_read();
}

void memory_end::reset() {
    if (const auto peer = peer_.lock()) peer->break_off();
    cancel();
    is_open_ = false;
}

void memory_end::close() {
    if (!is_open_) return;
    const auto peer = peer_.lock();
    if (peer && !inbox_.empty())  // unread: the other end has an error, not an end
        peer->break_off();
    else if (peer)
        peer->hear_no_more();
    cancel();
    is_open_ = false;
    if (peer) peer->look_at_write();
}

void memory_end::shutdown_send() {
    sends_no_more_ = true;
    if (const auto peer = peer_.lock()) peer->hear_no_more();
}

void memory_end::shutdown_both() {
    shutdown_send();
    hear_no_more();
    look_at_write();
}

void memory_listener::accept(const net::any_io_executor& where, accepted done) {
    assert(!accept_);
    accept_ = pending{where, std::move(done)};
    if (waiting_.empty()) return;
    auto first = std::move(waiting_.front());
    waiting_.pop_front();
    take(std::move(first));
}

void memory_listener::take(std::shared_ptr<memory_end> end) {
    if (!accept_) return waiting_.push_back(std::move(end));
    pending one = std::move(*std::exchange(accept_, std::nullopt));
    net::post(one.where, [done = std::move(one.done), end = std::move(end)]() mutable {
        const transport::endpoint peer = end->remote_endpoint();
        done({}, std::move(end), peer);
    });
}

void memory_listener::cancel() {
    if (!accept_) return;
    pending one = std::move(*std::exchange(accept_, std::nullopt));
    net::post(one.where, [done = std::move(one.done)] { done(net::error::operation_aborted, nullptr, {}); });
}

void memory_listener::close() {
    if (!std::exchange(is_open_, false)) return;
    cancel();
    for (const auto& each : waiting_) each->reset();
    waiting_.clear();
    network_.listeners_.erase(endpoint_text(at_));
}

std::shared_ptr<transport> memory_network::make_transport() {
    return make_end(tcp_endpoint(net::ip::make_address(source_), take_port()));
}

std::shared_ptr<memory_end> memory_network::make_end(const transport::endpoint& local) {
    auto made = std::make_shared<memory_end>(*this, local);
    std::erase_if(ends_, [](const auto& each) { return each.expired(); });
    ends_.push_back(made);
    return made;
}

void memory_network::give_back(bool only_of_gate) {
    const auto is_of_gate = [](const memory_end& one) {
        const auto address = ip_address_of(one.local_endpoint());
        return address && (address->is_loopback() || address->to_string() == gate_address);
    };
    for (const auto& each : std::vector{ends_})
        if (const auto end = each.lock(); end && (!only_of_gate || is_of_gate(*end))) end->cancel();
    loop_.poll();
}

std::shared_ptr<transport_listener> memory_network::listen(const transport::endpoint& where) {
    transport::endpoint at = where;
    if (!ip_address_of(at)) throw boost::system::system_error{error_code{net::error::address_family_not_supported}};
    if (port_of(at) == 0) at = tcp_endpoint(*ip_address_of(at), take_port());
    auto made = std::make_shared<memory_listener>(*this, at);
    if (!listeners_.emplace(endpoint_text(at), made.get()).second) {
        made->is_open_ = false;
        throw boost::system::system_error{error_code{net::error::address_in_use}};
    }
    return made;
}

void memory_network::look_up(const std::string& host, std::uint16_t port, const net::any_io_executor& where,
                             found done) {
    const auto known = names.find(host);
    const name answer = known != names.end() ? known->second : name{.error = net::error::host_not_found};
    if (answer.is_silent) return;
    std::vector<transport::endpoint> endpoints;
    for (const std::string& each : answer.addresses)
        endpoints.push_back(tcp_endpoint(net::ip::make_address(each), port));
    const auto timer = std::make_shared<async_timer>(where, answer.delay);
    timer->async_wait([timer, done = std::move(done), error = answer.error, endpoints](error_code ended) {
        if (!ended) done(error, endpoints);
    });
}

}  // namespace seriesgate::testing
