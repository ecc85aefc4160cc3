/// Event loops beside those that serve: work that no request does.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "net/asio.hpp"
#include "net/async.hpp"

namespace seriesgate {

// --- Work that nobody waits for: whatever it throws is heard of and ends nothing else.

/// Starts a coroutine. Only when memory runs out, or by a bug of ours, does one end with an exception.
/// @param failed what to say in the log then; a literal.
void spawn(const net::any_io_executor& where, net::awaitable<void> task, const char* failed);

/// Starts what has to go on for as long as the process does: made anew a second after an exception, until it returns.
/// @param failed as above.
void spawn_lasting(const net::any_io_executor& where, std::function<net::awaitable<void>()> make, const char* failed);

/// Runs handlers until the context is stopped, also after one that throws. Threads: the one that it makes the
/// context's.
void run_handlers(net::io_context& io);

/// Runs handlers that are ready, also after one that throws. @return how many.
std::size_t poll_handlers(net::io_context& io);

/// Has an event loop run until it is stopped. A test that runs all loops itself returns no thread.
using thread_starter = std::function<std::jthread(net::io_context&, const std::string& name)>;

/// A thread of its own for each.
/// @param name as top -H and debuggers show it; at most 15 bytes.
[[nodiscard]] std::jthread start_thread(net::io_context& loop, const std::string& name);

/// An event loop with its thread. Coroutines are spawned on it before or after it starts. It destroys the frames of
/// those that have not finished: what their locals use outlives it, and what has timers or sockets of it goes before.
class event_loop {
    net::io_context context_{1};
    net::executor_work_guard<net::io_context::executor_type> keeps_running_{context_.get_executor()};
    std::stop_source ending_;
    std::jthread thread_;

  public:
    event_loop() = default;
    event_loop(const event_loop&) = delete;
    event_loop& operator=(const event_loop&) = delete;
    ~event_loop() { stop(); }

    [[nodiscard]] net::io_context& context() noexcept { return context_; }

    void start(const thread_starter& by, const std::string& name) { thread_ = by(context_, name); }

    /// Long work that looks at this ends soon once the process is about to end. Threads: any.
    [[nodiscard]] std::stop_token ending() const noexcept { return ending_.get_token(); }
    void begin_to_end() noexcept { ending_.request_stop(); }

    /// Waits for the handler that runs; none runs after that. Threads: another one.
    void stop() noexcept {
        begin_to_end();
        context_.stop();
        if (thread_.joinable()) thread_.join();
    }

    /// Has `work` done by the loop's thread, which may take its time, and waits for that without holding up `waits`.
    /// What it throws is logged, and it counts as done.
    template <class Work>
    net::awaitable<void> perform(Work work, net::io_context& waits) {
        awaited<bool> done{waits};
        net::post(context_, [work = std::move(work), give = done.to_give()]() mutable {
            try {
                work();
            } catch (...) {
                give(true);
                throw;
            }
            give(true);
        });
        for (bool is_done = false; !is_done;) {
            const auto given = co_await done.wait(std::chrono::hours{1});
            is_done = given.has_value();
        }
    }
};

}  // namespace seriesgate
