/// Comparing measurements (Catch2's own Approx moved between its versions 2 and 3).
#pragma once

#include <cmath>

namespace seriesgate::testing {

/// Whether `value` is within the share `tolerance` of `expected`.
template <class Value, class Expected>
bool is_near(Value value, Expected expected, double tolerance) {
    return std::abs(static_cast<double>(value) - static_cast<double>(expected)) <=
           tolerance * std::abs(static_cast<double>(expected));
}

}  // namespace seriesgate::testing
