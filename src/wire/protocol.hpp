/// The two versions of remote write.
#pragma once

#include <cstdint>

namespace seriesgate {

enum class protocol : std::uint8_t {
    v1,  ///< prometheus.WriteRequest
    v2,  ///< io.prometheus.write.v2.Request
};

}  // namespace seriesgate
