#include "top/live.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <utility>

#include "system/clock.hpp"
#include "top/asking.hpp"

namespace seriesgate::top {
namespace {

/// Of each list: more than that nobody scrolls through.
constexpr std::size_t lines_max = 100;

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(wall_clock::now());
}

}  // namespace

live_view::live_view(net::io_context& io, const options& asked, gate_client& gate, screen& on)
    : io_(io),
      asked_(asked),
      gate_(gate),
      screen_(on),
      keys_(io, on.keys()),
      signals_(io),
      pause_(io),
      at_{.url = asked.url} {
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT}) signals_.add(each);
}

live_view::~live_view() {
    keys_.release();  // the screen's
}

void live_view::run() {
    net::co_spawn(io_, heed_signals(), net::detached);
    net::co_spawn(io_, read_keys(), net::detached);
    net::co_spawn(io_, keep_asking(), net::detached);
    draw();
    io_.run();
}

net::awaitable<void> live_view::keep_asking() {
    for (;;) {
        asks_at_once_ = false;
        const question wanted = seen_.asked;
        auto got = co_await ask(gate_, wanted, lines_max);
        at_.fault = got ? std::string{} : got.error();
        if (got) {
            at_.known = *std::move(got);
            at_.taken = now();
        }
        draw();
        if (asks_at_once_) continue;
        pause_.expires_after(asked_.interval);
        co_await pause_.async_wait(no_throw);
    }
}

net::awaitable<void> live_view::read_keys() {
    for (;;) {
        auto [error] = co_await keys_.async_wait(net::posix::stream_descriptor::wait_read, no_throw);
        std::array<char, 256> bytes;
        const ssize_t count = error ? 0 : ::read(screen_.keys(), bytes.data(), bytes.size());
        if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (count <= 0) co_return io_.stop();  // the terminal has gone
        for (const key& each : reader_.read({bytes.data(), static_cast<std::size_t>(count)}))
            fulfil(press(seen_, each, page_));
    }
}

net::awaitable<void> live_view::heed_signals() {
    for (;;) {
        auto [error, number] = co_await signals_.async_wait(no_throw);
        if (error) co_return;
        if (number == SIGTSTP) {
            suspend();
        } else if (number == SIGWINCH || number == SIGCONT) {
            screen_.take();
            screen_.forget();
            draw();
        } else {
            io_.stop();
        }
    }
}

void live_view::draw() {
    at_.now = now();
    const frame made = make_frame(at_, seen_, screen_.size());
    seen_.scroll = std::min(seen_.scroll, made.scroll_max);
    page_ = made.page;
    screen_.show(made);
}

void live_view::ask_at_once() {
    asks_at_once_ = true;
    pause_.cancel();
}

/// The shell gets its terminal back until it goes on with us.
void live_view::suspend() {
    screen_.give_back();
    ::kill(0, SIGSTOP);
    screen_.take();
    draw();
}

void live_view::fulfil(wish wanted) {
    switch (wanted) {
        case wish::ask:
            ask_at_once();
            return draw();
        case wish::draw:
            return draw();
        case wish::suspend:
            return suspend();
        case wish::quit:
            return io_.stop();
        case wish::nothing:
            break;
    }
}

}  // namespace seriesgate::top
