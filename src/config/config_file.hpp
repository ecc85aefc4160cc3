/// Files that people write.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>

namespace seriesgate {

inline constexpr std::size_t config_file_bytes_max = 1 << 20;

/// A file's text; of a longer one just a byte more than allowed, so that who reads it sees that.
/// @return nothing, and why in `error`, if it cannot be read.
std::optional<std::string> read_config_file(const std::string& path, std::error_code& error);

}  // namespace seriesgate
