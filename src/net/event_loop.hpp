/// Event loops for work beside the requests, and coroutines that no caller waits for.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "net/async.hpp"

namespace seriesgate {

// --- Background coroutines: their exceptions are logged and stop nothing else.

/// Starts a coroutine. It ends with an exception only when memory runs out, or by a bug.
/// @param failed log message in that case; a literal.
void spawn(const net::any_io_executor& where, net::awaitable<void> task, const char* failed);

/// Starts a permanent coroutine: restarts it a second after an exception, until it returns; at once if an operation of
/// it found no memory to begin. @param failed as above.
void spawn_lasting(net::io_context& where, const char* failed, std::function<net::awaitable<void>()> make);

/// Runs handlers until the context is stopped, also after one throws. Threads: the calling thread serves the context.
void run_handlers(net::io_context& io);

/// Runs an event loop until it is stopped. Tests that run all loops themselves return no thread.
using thread_starter = std::function<std::jthread(net::io_context&, const std::string& name)>;

/// Starts a thread for the loop. @param name as in top -H and debuggers; at most 15 bytes.
[[nodiscard]] std::jthread start_thread(net::io_context& loop, const std::string& name);

/// An event loop with its thread. Accepts coroutines before and after start(). Destroys the frames of unfinished
/// coroutines: objects that they use must outlive it, and objects with its timers or sockets must be destroyed before
/// it.
class event_loop {
    net::io_context context_{1};
    net::executor_work_guard<net::io_context::executor_type> keeps_running_{context_.get_executor()};
    std::stop_source ending_;
    std::jthread thread_;

  public:
    ~event_loop() { stop(); }

    [[nodiscard]] net::io_context& context() noexcept { return context_; }

    void start(const thread_starter& by, const std::string& name) { thread_ = by(context_, name); }

    /// Stops long work early when the process ends. Threads: any.
    [[nodiscard]] std::stop_token ending() const noexcept { return ending_.get_token(); }
    void begin_to_end() noexcept { ending_.request_stop(); }

    /// Waits for the running handler; no other runs afterwards. Threads: another one.
    void stop() noexcept {
        begin_to_end();
        context_.stop();
        if (thread_.joinable()) thread_.join();
    }

    /// Runs `work`, which may block, on the loop's thread, and waits without blocking `waits`. An exception of `work`
    /// is logged, and the work counts as done.
    template <class Work>
    net::awaitable<void> perform(Work work, net::io_context& waits) {
        awaited<bool> done{waits};
        const auto is_over = std::make_shared<std::atomic<bool>>(false);  // says so if there is no memory to give
        net::post(context_, [work = std::move(work), give = done.to_give(), is_over]() mutable {
            try {
                work();
            } catch (...) {
                *is_over = true;
                give(true);
                throw;
            }
            *is_over = true;
            give(true);
        });
        while (!*is_over) static_cast<void>(co_await done.wait(std::chrono::seconds{1}));
    }
};

}  // namespace seriesgate
