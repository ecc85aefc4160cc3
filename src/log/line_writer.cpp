#include "log/line_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

namespace seriesgate::log {
namespace {

/// After that it is looked whether to stop.
constexpr int patience_ms = 50;

/// This thread outlives those that know what to do with a signal. Whoever reads the log may go, too: then writing is an
/// error and no SIGPIPE.
void take_no_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

/// Waits until PIPE_BUF bytes can be written at once: a pipe says so only then. Source: pipe(7), poll(2).
bool wait_for_room(const std::stop_token& stop, int descriptor) {
    pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
    while (!stop.stop_requested())
        if (::poll(&asked, 1, patience_ms) > 0) return true;  // an error, too: writing tells which
    return false;
}

}  // namespace

line_writer::line_writer(int descriptor, loss_line describe)
    : descriptor_(descriptor),
      describe_(std::move(describe)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void line_writer::put(std::string line) {
    const std::scoped_lock lock{guard_};
    if (queued_bytes_ + line.size() > queued_bytes_max) {
        ++lost_;
        return;
    }
    if (const std::uint64_t untold = lost_ - std::exchange(told_, lost_); untold != 0) add(describe_(untold), untold);
    add(std::move(line));
    wake_.notify_one();
}

void line_writer::add(std::string line, std::uint64_t tells) {
    const std::size_t bytes = line.size();
    queue_.push_back({.text = std::move(line), .tells = tells});
    queued_bytes_ += bytes;
}

void line_writer::flush(std::chrono::steady_clock::duration limit) {
    std::unique_lock lock{guard_};
    idle_.wait_for(lock, limit, [this] { return queue_.empty(); });
}

void line_writer::let_go() {
    {
        const std::scoped_lock lock{guard_};
        if (!queue_.empty()) return thread_.detach();
        thread_.request_stop();  // with the lock, so that it begins nothing more
    }
    thread_.join();
}

std::uint64_t line_writer::lost() const {
    const std::scoped_lock lock{guard_};
    return lost_;
}

void line_writer::run(const std::stop_token& stop) {
    take_no_signals();
    std::unique_lock lock{guard_};
    while (wake_.wait(lock, stop, [this] { return !queue_.empty(); })) {
        const queued& line = queue_.front();  // stays where it is while others are put behind it
        lock.unlock();
        const bool written = write_whole(stop, line.text);
        lock.lock();
        if (!written && line.tells == 0) ++lost_;
        if (!written) told_ -= line.tells;  // a later one will
        queued_bytes_ -= line.text.size();
        queue_.pop_front();
        if (queue_.empty()) idle_.notify_all();
    }
}

/// In pieces that a pipe takes at once. @return false if it is to stop, or for an error.
bool line_writer::write_whole(const std::stop_token& stop, const std::string& line) const {
    for (std::size_t done = 0; done < line.size();) {
        if (!wait_for_room(stop, descriptor_)) return false;
        const std::size_t piece = std::min<std::size_t>(line.size() - done, PIPE_BUF);
        const ::ssize_t written = ::write(descriptor_, line.data() + done, piece);
        if (written > 0) {
            done += static_cast<std::size_t>(written);
        } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
            return false;
        }
    }
    return true;
}

}  // namespace seriesgate::log
