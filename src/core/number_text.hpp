/// Numbers and times as people read them: on the page, in a terminal, in sentences.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace seriesgate {

/// 99812 as `99,812`.
std::string grouped(std::uint64_t number);

/// A count as it is shown: `99,812`. An estimate has no more digits than are known, so that two estimates of the same
/// look the same: `about 99,000`, `about 104,000`.
std::string count_text(std::uint64_t count, bool is_exact);

/// With two units at most: `1 d 4 h`, `4 min`, `5 s`.
std::string duration_text(std::chrono::seconds duration);

}  // namespace seriesgate
