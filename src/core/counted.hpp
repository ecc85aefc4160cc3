/// Numbers with their nouns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace seriesgate {

/// "1 sample", "2 samples".
inline std::string counted(std::uint64_t count, std::string_view noun) {
    return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

}  // namespace seriesgate
