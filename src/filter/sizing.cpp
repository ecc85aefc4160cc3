#include "filter/sizing.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace seriesgate {
namespace {

/// The rate as a function of the mean number of series in a block.
double rate_at_load(double mean) {
    if (mean <= 0) return 0;
    if (mean > 64 * block_bits) return 1;  // every bit is set, and the sum would be long
    // Sum over k within twelve standard deviations: what is left out is far below any rate of interest. Poisson weights
    // relative to the most likely k, each from its neighbour: std::lgamma would write a global variable.
    const double spread = 12 * std::sqrt(mean) + 12;
    const double mode = std::floor(mean);
    double weights = 0;
    double hits = 0;
    const auto add = [&](double k, double weight) {
        weights += weight;
        hits += weight * std::pow(1 - std::pow(63.0 / 64.0, k), 8);
    };
    double weight = 1;
    for (double k = mode; k <= mean + spread; ++k, weight *= mean / k) add(k, weight);
    weight = 1;
    for (double k = mode; k >= 1 && k > mean - spread; --k) add(k - 1, weight *= k / mean);
    assert(weights > 0 && hits >= 0);
    return std::min(hits / weights, 1.0);
}

}  // namespace

double expected_false_positive_rate(std::uint64_t series, std::size_t blocks) {
    assert(blocks > 0);
    return rate_at_load(static_cast<double>(series) / static_cast<double>(blocks));
}

std::size_t blocks_for(const filter_spec& spec) {
    assert(spec.false_positive_rate > 0 && spec.false_positive_rate < 1);
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
