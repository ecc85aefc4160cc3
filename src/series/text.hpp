/// A series as people write it.
#pragma once

#include <span>
#include <string>

#include "wire/write_request.hpp"

namespace seriesgate {

/// `name{label="value",...}` as PromQL shows it; bytes that would break a log line are escaped, and it is cut to about
/// `bytes_max` bytes.
std::string to_text(std::span<const label_view> labels, std::size_t bytes_max = 1024);

}  // namespace seriesgate
