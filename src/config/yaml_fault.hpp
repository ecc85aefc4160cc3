#pragma once

#include <cstddef>
#include <string>

namespace seriesgate {

/// What keeps a text, or a part of it, from being keys and values.
struct yaml_fault {
    std::size_t line;  ///< from 1; 0 if unknown
    std::string message;
};

}  // namespace seriesgate
