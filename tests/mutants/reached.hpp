/// For the tests: what ran since the last call.
#pragma once

#include <string>

namespace injected {

/// @return the numbers of the faults that were reached since the last call, each with a comma behind it.
std::string take_reached();

}  // namespace injected
