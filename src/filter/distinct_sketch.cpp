#include "filter/distinct_sketch.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace seriesgate {
namespace {

/// Ertl 2017, algorithm 6: the contribution of the registers that are still zero.
double sigma(double x) {
    if (x == 1) return std::numeric_limits<double>::infinity();
    double sum = x;
    double weight = 1;
    for (double before = -1; sum != before; weight *= 2) {
        x *= x;
        before = sum;
        sum += x * weight;
    }
    return sum;
}

/// The contribution of the registers that are full.
double tau(double x) {
    if (x == 0 || x == 1) return 0;
    double sum = 1 - x;
    double weight = 1;
    for (double before = -1; sum != before;) {
        x = std::sqrt(x);
        before = sum;
        weight /= 2;
        sum -= (1 - x) * (1 - x) * weight;
    }
    return sum / 3;
}

}  // namespace

void distinct_sketch::insert(std::uint64_t fingerprint) noexcept {
    const std::size_t index = fingerprint >> (64 - index_bits);
    // The position of the first one bit in the rest; the guard bit bounds it to 64 - index_bits + 1.
    const std::uint64_t rest = fingerprint << index_bits | std::uint64_t{1} << (index_bits - 1);
    const auto rank = static_cast<std::uint8_t>(std::countl_zero(rest) + 1);
    std::uint8_t& kept = registers_[index];
    if (rank <= kept) return;
    --rank_counts_[kept];
    ++rank_counts_[rank];
    kept = rank;
}

void distinct_sketch::clear() noexcept {
    registers_.fill(0);
    rank_counts_.fill(0);
    rank_counts_[0] = static_cast<std::uint32_t>(registers_.size());
}

std::uint64_t distinct_sketch::estimate() const {
    const auto m = static_cast<double>(registers_.size());
    double z = m * tau(1 - rank_counts_[rank_max] / m);
    for (int rank = rank_max - 1; rank >= 1; --rank) z = (z + rank_counts_[static_cast<std::size_t>(rank)]) / 2;
    z += m * sigma(rank_counts_[0] / m);
    constexpr double alpha_infinity = 0.721347520444481703680;  // 1 / (2 ln 2)
    return static_cast<std::uint64_t>(std::llround(alpha_infinity * m * m / z));
}

}  // namespace seriesgate
