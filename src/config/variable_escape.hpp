#pragma once

#include "config/yaml_tree.hpp"

namespace seriesgate {

/// Writes in every value below this one `$${` for a `${`, so that it names no variable of the environment: the way back
/// from fill_variables.
void escape_variables(yaml_value& value);

}  // namespace seriesgate
