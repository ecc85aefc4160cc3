/// How a simulation says what did not hold, and what happened.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace seriesgate::testing {

/// An invariant that does not hold.
struct violation : std::logic_error {
    using std::logic_error::logic_error;
};

inline void require(bool holds, const char* what) {
    if (!holds) throw violation{what};
}

/// What happened, so that a simulation in which nothing does is noticed.
using happenings = std::map<std::string, std::uint64_t>;

/// Whether so many are within a maximum of a budget; 0: there is none.
inline bool is_within(std::uint64_t count, std::uint64_t maximum) {
    return maximum == 0 || count <= maximum;
}

}  // namespace seriesgate::testing
