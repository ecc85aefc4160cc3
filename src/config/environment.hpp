#pragma once

#include <functional>
#include <optional>
#include <string>

namespace seriesgate {

/// @return the value of an environment variable; nothing if it is not set.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Of this process. Threads: any, as long as none changes it.
std::optional<std::string> variable_of_process(const std::string& name);

}  // namespace seriesgate
