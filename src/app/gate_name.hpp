/// What this gate is called among others.
#pragma once

#include <string>

#include "config/config.hpp"

namespace seriesgate {

/// Another one for each gate: two on one host have two addresses. One that takes any free port is known by its process.
/// For people: valid UTF-8, without control characters.
std::string gate_name(const listen_address& listens);

}  // namespace seriesgate
