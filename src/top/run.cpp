#include "top/run.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.hpp"
#include "top/client.hpp"
#include "top/frame.hpp"
#include "top/screen.hpp"

namespace seriesgate::top {
namespace {

/// Longest list that a user scrolls through.
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
    keys_.release();  // the screen owns the descriptor
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

/// Gives the terminal back to the shell, until the shell resumes this process.
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

namespace seriesgate::top {
namespace {

constexpr std::size_t report_lines_max = 10;
constexpr std::size_t report_columns = 120;
constexpr std::size_t report_columns_min = 40;

/// Source: no-color.org.
bool wants_colours() {
    const char* const no = std::getenv("NO_COLOR");
    return no == nullptr || *no == '\0';
}

std::size_t columns_of_report() {
    winsize window{};
    if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return report_columns;
    return std::max<std::size_t>(window.ws_col, report_columns_min);
}

/// Stops the io_context at the end, since pending time limits no longer matter.
net::awaitable<void> ask_once(net::io_context& io, gate_client& gate, moment& into) {
    const question asked;
    auto got = co_await ask(gate, asked, report_lines_max);
    if (got)
        into.known = *std::move(got);
    else
        into.fault = got.error();
    io.stop();
}

int report(net::io_context& io, const options& asked, gate_client& gate) {
    moment at{.url = asked.url};
    net::co_spawn(io, ask_once(io, gate, at), net::detached);
    io.run();
    at.now = std::chrono::floor<std::chrono::seconds>(wall_clock::now());
    if (!at.fault.empty()) {
        fmt::print(stderr, "seriesgate top: {}: {}\n", fit_to_be_seen(asked.url), fit_to_be_seen(at.fault));
        return 1;
    }
    std::string text;
    for (const line& each : make_report(at, columns_of_report())) text += each.text() + "\n";
    const bool is_out = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return is_out ? 0 : 1;
}

}  // namespace

int run(const options& asked) {
    net::io_context io{1};
    gate_client gate{io, asked};
    if (asked.once || !screen::is_there()) return report(io, asked, gate);
    screen on{wants_colours()};
    live_view{io, asked, gate, on}.run();
    return 0;
}

}  // namespace seriesgate::top
