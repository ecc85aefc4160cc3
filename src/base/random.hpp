/// Random bytes from the operating system, or from a test's seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace seriesgate {

/// Fills with unpredictable bytes. Throws std::system_error if the system has none. Threads: any. Source: getrandom(2).
void fill_random(std::span<std::byte> bytes);

[[nodiscard]] std::uint64_t random_number();

/// A test's replacement, so that its seed decides.
using random_source = std::function<void(std::span<std::byte>)>;

/// For the whole process, until the call with an empty one. Threads: before others use it.
void install_random_source(random_source from);

}  // namespace seriesgate
