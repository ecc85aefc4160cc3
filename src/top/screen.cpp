#include "top/screen.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace seriesgate::top {
namespace {

/// Sources: ECMA-48; xterm's "Control Sequences", DECSET 1049 (alternate screen), 25 (cursor), 7 (wrap).
constexpr std::string_view take_codes = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view give_codes = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view wipe_codes = "\x1b[0m\x1b[2J";

/// Bounds for the size that the system reports.
constexpr std::size_t rows_max = 1000;
constexpr std::size_t columns_min = 20;
constexpr std::size_t columns_max = 1000;

std::string_view code_of(tone in, bool has_colours) {
    switch (in) {
        case tone::strong:
            return "\x1b[1m";
        case tone::chosen:
            return "\x1b[1;7m";
        case tone::faint:
            return has_colours ? "\x1b[2m" : "";
        case tone::good:
            return has_colours ? "\x1b[32m" : "";
        case tone::warning:
            return has_colours ? "\x1b[33m" : "\x1b[1m";
        case tone::bad:
            return has_colours ? "\x1b[1;31m" : "\x1b[1m";
        case tone::plain:
            break;
    }
    return "";
}

/// Ignores errors: reading keys detects a lost terminal.
void write_out(std::string_view text) noexcept {
    while (!text.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

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
            const std::string_view code = code_of(piece.in, has_colours);
            all.append(code).append(piece.text).append(code.empty() ? "" : "\x1b[0m");
        }
    }
    return all;
}

}  // namespace seriesgate::top
