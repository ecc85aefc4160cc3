#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Durations, sizes and counts as people write them. Strict: no spaces, no signs, nothing left over.
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

bool is_digits(std::string_view text) noexcept;

/// Digits with or without a fraction, with the point moved by so many places: "2.5" and 3 are 2,500.
/// @return nothing if that is no whole number or if the text is anything else; 2^64 - 1 for all that is more.
std::optional<std::uint64_t> shifted(std::string_view text, std::size_t zeros);

/// What can be read in one way only: `1000000`, `1_000_000` (groups of three), `1M`, `500k`, `2.5M` (k or K, M, G:
/// powers of ten) and `1e6`. No sign, and no zero in front: some YAML readers take 010 for 8.
/// @return nothing if the text is anything else or no whole number; 2^64 - 1 for all that is more.
std::optional<std::uint64_t> parse_count(std::string_view text);

}  // namespace seriesgate
