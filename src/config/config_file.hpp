/// Files that people write.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "core/result.hpp"

namespace seriesgate {

inline constexpr std::size_t config_file_bytes_max = 1 << 20;

/// A file's text; of a longer one just a byte more than allowed, so that who reads it sees that.
/// @return nothing, and why in `error`, if it cannot be read.
std::optional<std::string> read_config_file(const std::string& path, std::error_code& error);

struct file_fault {
    std::string message;  ///< what goes behind the file's name or key
    bool is_gone = false;

    file_fault() = default;
    /// Takes both: from a text alone it would be mistaken for one.
    file_fault(std::string what, bool gone) : message(std::move(what)), is_gone(gone) {}
};

/// The same for what is read again while the gate runs. A pipe or a terminal would be empty then: it is refused.
result<std::string, file_fault> read_lasting_file(const std::string& path);

}  // namespace seriesgate
