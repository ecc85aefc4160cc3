/// What the process says: one event, one line on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "log/line.hpp"

/// Nobody waits for a line to be written, see line_writer, and nothing that is said makes fail what it is said of: a
/// line that cannot be written is lost. Threads: any.
namespace seriesgate::log {

/// From here on. Until then: logfmt, from info upwards.
/// @param from nothing below it is written.
void set_up(format as, level from) noexcept;

/// Whether what is of this level is written, for who would have to work for its fields.
[[nodiscard]] bool is_written(level of) noexcept;

/// @param message the event in a few words that never change, so that it can be searched for and counted; what changes
/// is in the fields.
void write(level of, std::string_view message, std::span<const field> with) noexcept;

/// Takes whole lines, with their ends, in place of stderr. Threads: any, those that write.
using line_sink = std::function<void(const std::string& line)>;
/// For the whole process, until it is called with null. The sink outlives that.
void redirect(line_sink* to) noexcept;

/// Waits until all is written, but no longer than that: for who is about to end the process.
void flush(std::chrono::steady_clock::duration limit) noexcept;

/// Lines that could not be written since the start.
[[nodiscard]] std::uint64_t lost_lines() noexcept;

using fields = std::initializer_list<field>;

inline void debug(std::string_view message, fields with = {}) noexcept {
    write(level::debug, message, with);
}
inline void info(std::string_view message, fields with = {}) noexcept {
    write(level::info, message, with);
}
inline void warn(std::string_view message, fields with = {}) noexcept {
    write(level::warn, message, with);
}
inline void error(std::string_view message, fields with = {}) noexcept {
    write(level::error, message, with);
}

}  // namespace seriesgate::log
