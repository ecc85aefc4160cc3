/// Random bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace seriesgate {

/// Fills it with bytes that nobody can foretell, from the operating system.
/// Throws std::system_error if that has none. Threads: any. Source: getrandom(2).
void fill_random(std::span<std::byte> bytes);

[[nodiscard]] std::uint64_t random_number();

/// What a test installs in its place, so that its seed decides.
using random_source = std::function<void(std::span<std::byte>)>;

/// For the whole process, until it is called with an empty one. Threads: before others use it.
void install_random_source(random_source from);

}  // namespace seriesgate
