#include "filter/sizing.hpp"

#include <algorithm>
#include <cmath>

namespace seriesgate {
namespace {

/// The rate as a function of the mean number of series in a block.
double rate_at_load(double mean) {
    if (mean <= 0) return 0;
    // Sum over k within twelve standard deviations: what is left out is far below any rate of interest.
    const double spread = 12 * std::sqrt(mean) + 12;
    const auto first = static_cast<int>(std::max(0.0, mean - spread));
    const auto last = static_cast<int>(mean + spread);
    double rate = 0;
    for (int k = first; k <= last; ++k) {
        const double probability = std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0));
        const double bit_set = 1 - std::pow(63.0 / 64.0, k);
        rate += probability * std::pow(bit_set, 8);
    }
    return std::min(rate, 1.0);
}

}  // namespace

double expected_false_positive_rate(std::uint64_t series, std::size_t blocks) {
    return rate_at_load(static_cast<double>(series) / static_cast<double>(blocks));
}

std::size_t blocks_for(const filter_spec& spec) {
    // The rate grows with the load, so bisect on the load; 60 halvings exhaust a double.
    double low = 0;
    double high = block_bits;
    for (int i = 0; i < 60; ++i) {
        const double load = (low + high) / 2;
        (rate_at_load(load) <= spec.false_positive_rate ? low : high) = load;
    }
    const double blocks = std::ceil(static_cast<double>(spec.capacity) / std::max(low, 1e-6));
    return std::max<std::size_t>(1, static_cast<std::size_t>(blocks));
}

}  // namespace seriesgate
