#include "top/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "config/config_error.hpp"
#include "config/units.hpp"
#include "net/async.hpp"
#include "top/client.hpp"
#include "top/view.hpp"

namespace seriesgate::top {
namespace {

constexpr std::chrono::milliseconds interval_min{100};
constexpr std::chrono::milliseconds interval_max = std::chrono::hours{1};

program_about description() {
    return {.name = "seriesgate top",
            .purpose =
                "What a running gate says, live in a terminal: windows, findings, who has the most series, "
                "budgets, refused series and the upstream.",
            .footer =
                "Without a terminal, or with --once, it prints all of it once. The keys: press ? while it runs.\n"
                "Exit status 1: the gate could not be asked.",
            .see = "top --help",
            .flags = {{"--url", "URL", "of the gate, where it answers people (default http://127.0.0.1:9201)"},
                      {"--interval", "TIME", "between two questions (default 2s)"},
                      {"--once", "", "print the figures once, as plain text, and exit"}}};
}

std::string read_interval(const std::string& text, options& into) {
    const auto read = parse_duration(text);
    if (!read || *read < interval_min || *read > interval_max)
        return "--interval: " + in_quotes(text) + " is not a time from 100ms to 1h, such as 2s";
    into.interval = *read;
    return "";
}

std::string take_values(const parsed_flags& given, options& asked) {
    if (const auto url = given.values.find("--url"); url != given.values.end()) asked.url = url->second;
    asked.once = given.values.contains("--once");
    if (auto wrong = parse_gate_url(asked.url, asked.at); !wrong.empty()) return "--url: " + wrong;
    const auto interval = given.values.find("--interval");
    return interval == given.values.end() ? "" : read_interval(interval->second, asked);
}

/// Longest list that a user scrolls through.
constexpr std::size_t lines_max = 100;
constexpr std::size_t report_lines_max = 10;
constexpr std::size_t report_columns = 120;
constexpr std::size_t report_columns_min = 40;

/// Sources: ECMA-48; xterm's "Control Sequences", DECSET 1049 (alternate screen), 25 (cursor), 7 (wrap).
constexpr std::string_view take_codes = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view give_codes = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view wipe_codes = "\x1b[0m\x1b[2J";

/// Bounds for the size that the system reports.
constexpr std::size_t rows_max = 1000;
constexpr std::size_t columns_min = 20;
constexpr std::size_t columns_max = 1000;

/// By tone, without and with colours.
constexpr std::array<std::array<std::string_view, 2>, 7> tone_codes{{{"", ""},
                                                                     {"\x1b[1m", "\x1b[1m"},
                                                                     {"", "\x1b[2m"},
                                                                     {"", "\x1b[32m"},
                                                                     {"\x1b[1m", "\x1b[33m"},
                                                                     {"\x1b[1m", "\x1b[1;31m"},
                                                                     {"\x1b[1;7m", "\x1b[1;7m"}}};

/// Ignores errors: reading keys detects a lost terminal.
void write_out(std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

std::chrono::sys_seconds now() {
    return std::chrono::floor<std::chrono::seconds>(wall_clock::now());
}

/// Waits for the gate, keys and signals on one thread, so that a silent gate delays no key. Must outlive the last run
/// of the io_context.
class live_view {
    net::io_context& io_;
    const options& asked_;
    gate_client& gate_;
    screen& screen_;
    net::posix::stream_descriptor keys_;
    net::signal_set signals_;
    async_timer pause_;
    bool asks_at_once_ = false;  // the last request is outdated
    key_reader reader_;
    view seen_;
    moment at_;
    std::size_t page_ = 1;

  public:
    live_view(net::io_context& io, const options& asked, gate_client& gate, screen& on)
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
    ~live_view() {
        keys_.release();  // the screen owns the descriptor
    }

    /// Returns when the user quits, or the terminal has gone.
    void run() {
        const auto ends = [](const std::exception_ptr& why) {
            if (why) std::rethrow_exception(why);  // out of io_.run()
        };
        net::co_spawn(io_, heed_signals(), ends);
        net::co_spawn(io_, read_keys(), ends);
        net::co_spawn(io_, keep_asking(), ends);
        draw();
        io_.run();
    }

  private:
    net::awaitable<void> keep_asking() {
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

    net::awaitable<void> read_keys() {
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

    net::awaitable<void> heed_signals() {
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

    void draw() {
        at_.now = now();
        const frame made = make_frame(at_, seen_, screen_.size());
        seen_.scroll = std::min(seen_.scroll, made.scroll_max);
        page_ = made.page;
        screen_.show(made);
    }

    void ask_at_once() {
        asks_at_once_ = true;
        pause_.cancel();
    }

    /// Gives the terminal back to the shell, until the shell resumes this process.
    void suspend() {
        screen_.give_back();
        ::kill(0, SIGSTOP);
        screen_.take();
        draw();
    }

    void fulfil(wish wanted) {
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
};

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

net::awaitable<void> ask_once(gate_client& gate, moment& into) {
    const question asked;
    auto got = co_await ask(gate, asked, report_lines_max);
    if (got)
        into.known = *std::move(got);
    else
        into.fault = got.error();
}

int report(net::io_context& io, const options& asked, gate_client& gate) {
    moment at{.url = asked.url};
    run_to_end(io, ask_once(gate, at));
    at.now = now();
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

parsed_subcommand<options> parse_command_line(int argc, const char* const* argv) {
    return parse_subcommand(description(), argc, argv, take_values,
                            options{{.url = "http://127.0.0.1:9201", .agent = "seriesgate-top"}});
}

bool screen::is_there() {
    const char* const kind = std::getenv("TERM");
    if (::isatty(STDOUT_FILENO) != 1 || kind == nullptr || std::string_view{kind} == "dumb") return false;
    const int own = ::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (own >= 0) ::close(own);
    return own >= 0;
}

screen::screen(bool has_colours) : has_colours_(has_colours) {
    keys_ = ::open("/dev/tty", O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (keys_ < 0) throw std::system_error(errno, std::system_category(), "/dev/tty");
    take();
}

screen::~screen() {
    give_back();
    ::close(keys_);
}

void screen::take() {
    if (is_taken_ || ::tcgetattr(keys_, &before_) != 0) return;
    termios raw = before_;
    ::cfmakeraw(&raw);
    raw.c_oflag = before_.c_oflag;
    ::tcsetattr(keys_, TCSANOW, &raw);
    is_taken_ = true;
    is_wiped_ = false;
    write_out(take_codes);
}

void screen::give_back() noexcept {
    if (!is_taken_) return;
    is_taken_ = false;
    write_out(give_codes);
    ::tcsetattr(keys_, TCSANOW, &before_);
}

screen_size screen::size() const noexcept {
    winsize window{};
    screen_size size;
    if (::ioctl(keys_, TIOCGWINSZ, &window) != 0) return size;
    if (window.ws_row != 0) size.rows = std::min<std::size_t>(window.ws_row, rows_max);
    if (window.ws_col != 0) size.columns = std::clamp<std::size_t>(window.ws_col, columns_min, columns_max);
    return size;
}

void screen::show(const frame& shown) {
    std::string all;
    if (!is_wiped_) all = wipe_codes;
    is_wiped_ = true;
    write_out(all += painted(shown, has_colours_));
}

std::string painted(const frame& shown, bool has_colours) {
    std::string all;
    std::size_t row = 0;
    for (const line& each : shown.lines) {
        // Clears the line first: after a full line the cursor still stands on its last column.
        all += fmt::format("\x1b[{};1H\x1b[K", ++row);
        for (const line::piece& piece : each.pieces()) {
            const std::string_view code = tone_codes[static_cast<std::size_t>(piece.in)][has_colours ? 1 : 0];
            all.append(code).append(piece.text).append(code.empty() ? "" : "\x1b[0m");
        }
    }
    return all;
}

int run(const options& asked) {
    net::io_context io{1};
    gate_client gate{io, asked};
    if (asked.once || !screen::is_there()) return report(io, asked, gate);
    screen on{wants_colours()};
    live_view{io, asked, gate, on}.run();
    return 0;
}

}  // namespace seriesgate::top
