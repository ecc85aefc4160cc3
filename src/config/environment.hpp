#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/placed_value.hpp"

/// `${NAME}` in values stands for a variable of the environment.
namespace seriesgate {

/// @return a variable's value; nothing if it is not set.
using environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Of this process. Threads: any, as long as none changes it.
std::optional<std::string> variable_of_process(const std::string& name);

/// Fills the variables in in every value below `root`, which is text already and stays text: a variable cannot bring in
/// keys or lists. `$${` is a `${` as it is; a `$` before anything else is one, too. Told: variables that are not set.
void fill_variables(yaml_value& root, const environment& variables, error_report& report);

}  // namespace seriesgate
