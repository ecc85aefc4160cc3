/// A gate that shares the namespace.
#pragma once

#include <cstdint>
#include <string>

namespace seriesgate {

struct fleet_member {
    std::string name;
    std::string version;
    std::int64_t seen_seconds_ago = 0;

    friend bool operator==(const fleet_member&, const fleet_member&) = default;
};

}  // namespace seriesgate
