/// A command as it goes over the connection.
#pragma once

#include <string>
#include <vector>

namespace seriesgate {

/// @param words at least one, of any bytes.
[[nodiscard]] std::string command_text(const std::vector<std::string>& words);

}  // namespace seriesgate
