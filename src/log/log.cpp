#include "log/log.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <utility>

#include "log/line_writer.hpp"
#include "system/clock.hpp"

namespace seriesgate::log {
namespace {

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

/// Never destroyed, for nobody can wait for a thread that writes to a terminal which nobody reads.
class lasting_writer {
    line_writer& only_ = *new line_writer{STDERR_FILENO, describe_loss};

  public:
    lasting_writer() = default;
    lasting_writer(const lasting_writer&) = delete;
    lasting_writer& operator=(const lasting_writer&) = delete;
    ~lasting_writer() { only_.let_go(); }

    [[nodiscard]] line_writer& get() const noexcept { return only_; }
};

/// stdout holds answers only: --version, --help, --check-config.
line_writer& writer() {
    static const lasting_writer only;
    return only.get();
}

}  // namespace

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
} catch (...) {  // no memory: the event counts, not what is said of it
}

void flush(std::chrono::steady_clock::duration limit) noexcept try {
    writer().flush(limit);
} catch (...) {  // no memory, not even for a thread that writes
}

std::uint64_t lost_lines() noexcept try { return writer().lost(); } catch (...) {
    return 0;
}

}  // namespace seriesgate::log
