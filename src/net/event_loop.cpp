#include "net/event_loop.hpp"

#include <pthread.h>

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"

namespace seriesgate {
namespace {

using namespace std::chrono_literals;

constexpr auto pause_after_failure = 1s;
constexpr auto pause_without_memory = 10ms;
constexpr int attempts_to_begin = 100;

void log_failure(const char* failed, const std::exception_ptr& end) noexcept {
    try {
        std::rethrow_exception(end);
    } catch (const std::exception& error) {
        log::error(failed, {{"err", error.what()}});
    } catch (...) {
        log::error(failed);
    }
}

/// The context whose handlers this thread runs.
thread_local const net::io_context* runs_here = nullptr;

/// Asio destroys a coroutine whose operation finds no memory to begin, and says so to nobody. The destructor then
/// begins it again, while handlers run. Other threads have a second to free memory for that; without it the process
/// ends.
struct lasting_end {
    net::io_context* where;
    std::function<net::awaitable<void>()> make;
    const char* failed;
    std::shared_ptr<bool> has_begun;  // until then spawn_lasting() throws

    lasting_end(net::io_context& on, std::function<net::awaitable<void>()> by, const char* text,
                std::shared_ptr<bool> begun)
        : where(&on), make(std::move(by)), failed(text), has_begun(std::move(begun)) {}
    lasting_end(lasting_end&& other) noexcept
        : where(std::exchange(other.where, nullptr)),
          make(std::move(other.make)),
          failed(other.failed),
          has_begun(std::move(other.has_begun)) {}
    ~lasting_end() {
        if (where == nullptr || where != runs_here || !*has_begun) return;
        for (int left = attempts_to_begin;; --left) {
            std::this_thread::sleep_for(pause_without_memory);
            try {
                spawn_lasting(*where, failed, make);
                break;
            } catch (const std::bad_alloc&) {
                if (left == 1) std::terminate();
            }
        }
        log::error(failed, {{"err", "no memory to wait"}});
    }
    void operator()(const std::exception_ptr& end) {
        if (end)
            log_failure(failed, end);  // memory ran out between two lives
        else
            where = nullptr;
    }
};

net::awaitable<void> keep_going(std::function<net::awaitable<void>()> make, const char* failed,
                                std::shared_ptr<bool> has_begun) {
    *has_begun = true;
    async_timer pause{co_await net::this_coro::executor};  // a failure may have left no memory for one
    for (;;) {
        std::exception_ptr end;
        try {
            co_await make();
        } catch (...) {
            end = std::current_exception();
        }
        if (!end) co_return;
        log_failure(failed, end);
        pause.expires_after(pause_after_failure);
        co_await pause.async_wait(no_throw);
    }
}

}  // namespace

void spawn(const net::any_io_executor& where, net::awaitable<void> task, const char* failed) {
    net::co_spawn(where, std::move(task), [failed](const std::exception_ptr& end) {
        if (end) log_failure(failed, end);
    });
}

void spawn_lasting(net::io_context& where, const char* failed, std::function<net::awaitable<void>()> make) {
    const auto has_begun = std::make_shared<bool>(false);
    lasting_end end{where, make, failed, has_begun};
    net::co_spawn(where, keep_going(std::move(make), failed, has_begun), std::move(end));
}

void run_handlers(net::io_context& io) {
    runs_here = &io;
    for (;;) {
        try {
            io.run();
            runs_here = nullptr;
            return;
        } catch (...) {
            log_failure("a handler failed", std::current_exception());
        }
    }
}

std::jthread start_thread(net::io_context& loop, const std::string& name) {
    std::jthread started{[&loop] { run_handlers(loop); }};
    pthread_setname_np(started.native_handle(), name.c_str());
    return started;
}

}  // namespace seriesgate
