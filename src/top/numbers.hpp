/// Numbers and times as people read them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "core/text.hpp"

namespace seriesgate::top {

/// `10:04:07`, in UTC as all that the gate writes.
std::string clock_text(std::chrono::sys_seconds when);

/// Of 100, rounded down: 100 is full. No more than 999.
std::uint64_t percent(std::uint64_t part, std::uint64_t whole);

/// `[####------]`: filled only if it is full.
std::string bar(std::uint64_t part, std::uint64_t whole, std::size_t columns);

}  // namespace seriesgate::top
