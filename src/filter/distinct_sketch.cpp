#include "filter/distinct_sketch.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

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

constexpr std::size_t ordered_max = 1'024;

/// @return whether the fingerprint is in; false: there is no room for it.
bool put(std::vector<std::uint64_t>& few, std::uint64_t fingerprint, std::size_t count_max) {
    const auto place = std::ranges::lower_bound(few, fingerprint);
    if (place != few.end() && *place == fingerprint) return true;
    if (few.size() == count_max) return false;
    few.insert(place, fingerprint);
    return true;
}
bool put(boost::unordered_flat_set<std::uint64_t>& few, std::uint64_t fingerprint, std::size_t count_max) {
    if (few.size() < count_max) return few.insert(fingerprint), true;
    return few.contains(fingerprint);
}

std::size_t bytes_of(const std::vector<std::uint64_t>& few) noexcept {
    return few.capacity() * sizeof(std::uint64_t);
}
/// A group of 15 entries has 16 extra bytes.
std::size_t bytes_of(const boost::unordered_flat_set<std::uint64_t>& few) noexcept {
    return few.bucket_count() * (sizeof(std::uint64_t) + 1);
}

}  // namespace

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::registers::insert(std::uint64_t fingerprint) noexcept {
    // Rank: position of the first one bit in the remainder; the guard bit bounds it to rank_max.
    const std::uint64_t rest = fingerprint << index_bits | std::uint64_t{1} << (index_bits - 1);
    raise(fingerprint >> (64 - index_bits), static_cast<std::uint8_t>(std::countl_zero(rest) + 1));
}

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::registers::raise(std::size_t index, std::uint8_t rank) noexcept {
    assert(index < ranks.size() && rank <= rank_max);
    std::uint8_t& known = ranks[index];
    if (rank <= known) return;
    assert(histogram[known] > 0);
    --histogram[known];
    ++histogram[rank];
    known = rank;
}

template <unsigned IndexBits, std::size_t ExactMax>
typename basic_distinct_sketch<IndexBits, ExactMax>::seen& basic_distinct_sketch<IndexBits, ExactMax>::open() {
    if (!seen_) seen_ = std::make_unique<seen>();
    return *seen_;
}

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::use_registers() {
    assert(seen_ && !seen_->many);
    seen_->many = std::make_unique<registers>();
    for (const std::uint64_t each : seen_->few) seen_->many->insert(each);
    few_type{}.swap(seen_->few);  // `= {}` would keep the memory
}

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::insert(std::uint64_t fingerprint) {
    auto& [few, many] = open();
    assert(few.size() <= exact_max && (!many || few.empty()));
    if (many) return many->insert(fingerprint);
    if (put(few, fingerprint, exact_max)) return;
    use_registers();  // before the vector doubles its memory for one more
    seen_->many->insert(fingerprint);
}

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::merge(const basic_distinct_sketch& other) {
    if (!other.seen_) return;
    for (const std::uint64_t each : other.seen_->few) insert(each);
    if (!other.seen_->many) return;
    if (!open().many) use_registers();
    for (std::size_t i = 0; i < other.seen_->many->ranks.size(); ++i)
        seen_->many->raise(i, other.seen_->many->ranks[i]);
}

template <unsigned IndexBits, std::size_t ExactMax>
std::uint64_t basic_distinct_sketch<IndexBits, ExactMax>::estimate() const {
    if (!seen_) return 0;
    if (!seen_->many) return seen_->few.size();
    const auto& histogram = seen_->many->histogram;
    assert(seen_->few.empty());
    assert(std::accumulate(histogram.begin(), histogram.end(), std::size_t{0}) == seen_->many->ranks.size());
    const auto m = static_cast<double>(seen_->many->ranks.size());
    double z = m * tau(1 - histogram[rank_max] / m);
    for (int rank = rank_max - 1; rank >= 1; --rank) z = (z + histogram[static_cast<std::size_t>(rank)]) / 2;
    z += m * sigma(histogram[0] / m);
    constexpr double alpha_infinity = 0.721347520444481703680;  // 1 / (2 ln 2)
    return std::max(static_cast<std::uint64_t>(std::llround(alpha_infinity * m * m / z)), std::uint64_t{exact_max + 1});
}

template <unsigned IndexBits, std::size_t ExactMax>
std::size_t basic_distinct_sketch<IndexBits, ExactMax>::bytes() const noexcept {
    if (!seen_) return 0;
    return sizeof(seen) + bytes_of(seen_->few) + (seen_->many ? sizeof(registers) : 0);
}

// The format: a byte (0 few, 1 registers); then a count (8 bytes) and so many fingerprints, or a byte for each
// register. Up to ordered_max fingerprints are ascending; sorting more would take a millisecond under the commit lock.
template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::save(state_encoder& out) const {
    const bool estimated = seen_ && seen_->many;
    out.number(static_cast<std::uint8_t>(estimated ? 1 : 0));
    if (estimated) {
        out.bytes({reinterpret_cast<const char*>(seen_->many->ranks.data()), seen_->many->ranks.size()});
        return;
    }
    out.number(static_cast<std::uint64_t>(seen_ ? seen_->few.size() : 0));
    if (!seen_) return;
    assert(seen_->few.size() <= exact_max);
    std::vector<std::uint64_t> kept(seen_->few.begin(), seen_->few.end());
    if (kept.size() <= ordered_max) std::ranges::sort(kept);
    for (const std::uint64_t each : kept) out.number(each);
}

template <unsigned IndexBits, std::size_t ExactMax>
void basic_distinct_sketch<IndexBits, ExactMax>::load(state_decoder& in) {
    clear();
    if (in.number<std::uint8_t>() == 0) {
        // One by one, so that damaged order is repaired.
        for (std::uint64_t left = in.count(exact_max); left > 0; --left) insert(in.number<std::uint64_t>());
        return;
    }
    open().many = std::make_unique<registers>();
    for (std::size_t i = 0; i < seen_->many->ranks.size(); ++i) {
        const auto rank = in.number<std::uint8_t>();
        if (rank > rank_max) return in.fail();
        seen_->many->raise(i, rank);
    }
}

template class basic_distinct_sketch<14, 32'768>;
template class basic_distinct_sketch<14, 1024>;
template class basic_distinct_sketch<11, 128>;

}  // namespace seriesgate
