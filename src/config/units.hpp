#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations and sizes as people write them. Strict: no spaces, no signs, no fractions, nothing left over.
namespace seriesgate {

/// `500ms`, `25s`, `10m`, `1h`, `1d`, and combinations from large to small such as `1h30m`; `0` needs no unit.
/// @return nothing if the text is anything else or more than 2^63 ms.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

/// Bytes: `4096` or `4096B`; KiB, MiB, GiB, or Ki, Mi, Gi, count by 1024, KB, MB, GB by 1000.
/// @return nothing if the text is anything else or more than 2^64 - 1 bytes.
std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

/// The way back: parse_duration(format_duration(d)) == d for every d >= 0.
std::string format_duration(std::chrono::milliseconds duration);

/// In the largest unit that 1024 divides evenly: parse_size(format_size(n)) == n.
std::string format_size(std::uint64_t bytes);

/// `0.000000001`: without zeros at the end. A number of more than 32 characters has an exponent: `1.5e+300`.
std::string format_rate(double rate);

}  // namespace seriesgate
