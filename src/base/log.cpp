#include "base/log.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/text.hpp"

namespace seriesgate::log {
namespace {

void append_character(std::string& out, std::string_view character) {
    constexpr std::string_view special = "\"\\\n\t\r", letters = "\"\\ntr";
    if (const auto at = special.find(character); at != std::string_view::npos)
        out.append("\\").append(1, letters[at]);
    else if (is_control_character(character))
        fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(code_of(character)));
    else
        out += character;
}

void append_quoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        if (size == 0)
            fmt::format_to(std::back_inserter(out), "\\\\x{:02x}", static_cast<unsigned char>(text.front()));
        else
            append_character(out, text.substr(0, size));
        text.remove_prefix(size == 0 ? 1 : size);
    }
    out += '"';
}

/// Whether logfmt needs no quotes.
bool is_plain(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text)
        if (c <= ' ' || c > '~' || c == '=' || c == '"' || c == '\\') return false;
    return true;
}

void append_text(std::string& out, format as, std::string_view text) {
    if (as == format::logfmt && is_plain(text))
        out += text;
    else
        append_quoted(out, text);
}

void append_value(std::string& out, format as, const field::value_type& value) {
    if (const auto* text = std::get_if<std::string_view>(&value)) return append_text(out, as, *text);
    if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number))
        return append_text(out, as, fmt::to_string(*number));  // JSON has no such number
    std::visit(
        [&out](const auto& plain) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(plain)>, std::string_view>)
                out += fmt::to_string(plain);
        },
        value);
}

void append_field(std::string& out, format as, const field& each) {
    assert(is_plain(each.key()));
    if (as == format::logfmt)
        out.append(out.empty() ? "" : " ").append(each.key()).append("=");
    else
        out.append(out.empty() ? "{\"" : ",\"").append(each.key()).append("\":");
    append_value(out, as, each.value());
}

/// Interval of looking for a stop request, in milliseconds.
constexpr int patience_ms = 50;

/// Blocks all signals: this thread outlives their handlers. With SIGPIPE blocked, a closed pipe is an error of write().
void take_no_signals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

/// Waits until a write of PIPE_BUF bytes cannot block: only then does a pipe report room. Source: pipe(7), poll(2).
bool wait_for_room(const std::stop_token& stop, int descriptor) {
    pollfd asked{.fd = descriptor, .events = POLLOUT, .revents = 0};
    while (!stop.stop_requested())
        if (::poll(&asked, 1, patience_ms) > 0) return true;  // also for errors, which the write reports
    return false;
}

std::atomic<format> form{format::logfmt};
std::atomic<level> least{level::info};
std::atomic<line_sink*> sink{nullptr};

std::string whole_line(level of, std::string_view message, std::span<const field> with) {
    return line_of(form.load(std::memory_order_relaxed), of, wall_clock::now(), message, with) + '\n';
}

std::string describe_loss(std::uint64_t lines) {
    const field lost{"lines", lines};
    return whole_line(level::warn, "lines of the log were lost, who reads it is too slow", {&lost, 1});
}

/// Never destroyed: its thread may hang in a write to a terminal. stdout carries only answers: --version, --help,
/// --check-config.
line_writer& writer() {
    static line_writer& only = *new line_writer{STDERR_FILENO, describe_loss};
    [[maybe_unused]] static const int ends = std::atexit([] { only.let_go(); });
    return only;
}

}  // namespace

std::string_view name_of(level of) noexcept {
    constexpr std::array<std::string_view, 4> names{"debug", "info", "warn", "error"};
    return names[static_cast<std::size_t>(of)];
}

std::string line_of(format as, level of, time_point at, std::string_view message, std::span<const field> fields) {
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(at);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(milliseconds);
    const std::string when =
        fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(seconds), (milliseconds - seconds).count());
    std::string line;
    append_field(line, as, {"ts", when});
    append_field(line, as, {"level", name_of(of)});
    append_field(line, as, {"msg", message});
    for (const field& each : fields) append_field(line, as, each);
    if (as == format::json) line += '}';
    return line;
}

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
    if (const std::uint64_t untold = lost_ - told_; untold != 0) {
        add(describe_(untold), untold);  // may throw
        told_ = lost_;
    }
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
        thread_.request_stop();  // under the lock, so that it starts no further line
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
        const queued& line = queue_.front();  // stays in place while others are appended
        lock.unlock();
        const bool written = write_whole(stop, line.text);
        lock.lock();
        if (!written && line.tells == 0) ++lost_;
        if (!written) told_ -= line.tells;  // a later line reports them
        queued_bytes_ -= line.text.size();
        queue_.pop_front();
        if (queue_.empty()) idle_.notify_all();
    }
}

/// Writes in pieces that a pipe takes whole. @return false after a stop request or an error.
bool line_writer::write_whole(const std::stop_token& stop, const std::string& line) const {
    for (std::size_t done = 0; done < line.size();) {
        if (!wait_for_room(stop, descriptor_)) return false;
        const std::size_t piece = std::min<std::size_t>(line.size() - done, PIPE_BUF);
        const ::ssize_t written = ::write(descriptor_, line.data() + done, piece);
        if (written > 0)
            done += static_cast<std::size_t>(written);
        else if (written < 0 && errno != EINTR && errno != EAGAIN)
            return false;
    }
    return true;
}

void set_up(format as, level from) noexcept {
    form.store(as, std::memory_order_relaxed);
    least.store(from, std::memory_order_relaxed);
}

void redirect(line_sink* to) noexcept {
    sink.store(to, std::memory_order_release);
}

bool is_written(level of) noexcept {
    return of >= least.load(std::memory_order_relaxed);
}

void write(level of, std::string_view message, std::span<const field> with) noexcept try {
    if (!is_written(of)) return;
    std::string line = whole_line(of, message, with);
    if (line_sink* const other = sink.load(std::memory_order_acquire)) [[unlikely]]
        return (*other)(line);
    writer().put(std::move(line));
} catch (...) {  // out of memory: the program goes on without the line
}

void flush(std::chrono::steady_clock::duration limit) noexcept try {
    writer().flush(limit);
} catch (...) {  // out of memory, even for the thread
}

std::uint64_t lost_lines() noexcept try { return writer().lost(); } catch (...) {
    return 0;
}

}  // namespace seriesgate::log
