#include "filter/admitted_set.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <vector>

namespace seriesgate {
namespace {

/// The false-positive rate as a function of the mean number of series in a block.
double rate_at_load(double mean) {
    if (mean <= 0) return 0;
    if (mean > 64 * block_bits) return 1;  // every bit is set, and the sum would be long
    // Sums over k within twelve standard deviations; the rest is negligible. Poisson weights are relative to the most
    // likely k, each computed from its neighbour: std::lgamma would write a global variable.
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

/// Blocks copied at once: 64 KiB.
constexpr std::size_t chunk_blocks = 1024;
constexpr std::size_t words_per_block = 8;

/// Below this, a new segment makes the chain four times as large, to have few segments; above, twice, to save memory.
constexpr std::uint64_t large_capacity = 1 << 20;

/// The chain grows at least by this part, even beyond capacity_max. Gates with other limits may have admitted more, and
/// a reload may raise the bound often; segments are few.
constexpr std::uint64_t part_beyond_max = 4;

/// A segment is made when less than this is left in the newest one. It covers about five million inserts a second under
/// one lock, until maintenance has made the segment. It is small enough that a window sized by the last one needs no
/// segment.
std::uint64_t reserve_of(std::uint64_t capacity) {
    return std::max<std::uint64_t>(98'304, capacity / 16);
}

std::unique_ptr<admitted_set::segment> make_segment(const filter_spec& spec) {
    return std::unique_ptr<admitted_set::segment>(
        new admitted_set::segment{split_block{blocks_for(spec)}, spec.capacity});
}

/// The share of the promised rate for the segment at `position`: 3/4, 1/8, 1/16, ... , in sum at most 1. The first gets
/// most, because only the first window after a start needs others.
double rate_share(double promised, std::size_t position) {
    assert(promised > 0 && promised < 1);
    return position == 0 ? promised * 0.75 : std::ldexp(promised, -static_cast<int>(position) - 2);
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

split_block::split_block(std::size_t block_count) : split_block(page_memory{block_count * sizeof(block)}, block_count) {
    memory_.populate();
}

bool split_block::save(state_encoder& out) const {
    std::vector<std::uint64_t> chunk(chunk_blocks * words_per_block);
    for (std::size_t first = 0; first < block_count_ && out.good(); first += chunk_blocks) {
        const std::size_t count = std::min(chunk_blocks, block_count_ - first);
        for (std::size_t i = 0; i < count * words_per_block; ++i)
            chunk[i] =
                word{blocks()[first + i / words_per_block].words[i % words_per_block]}.load(std::memory_order_relaxed);
        assert(count > 0 && first + count <= block_count_);
        out.bytes({reinterpret_cast<const char*>(chunk.data()), count * sizeof(block)});
    }
    return out.good();
}

split_block split_block::load(state_decoder& in, std::size_t block_count) {
    split_block read{page_memory{block_count * sizeof(block)}, block_count};
    assert(read.bytes() == block_count * sizeof(block));
    // No other thread has this filter yet, so words need not be atomic.
    in.bytes(static_cast<char*>(read.memory_.data()), read.bytes());
    return read;
}

admitted_set::admitted_set(const filter_spec& first, std::uint64_t capacity_max)
    : promised_rate_(first.false_positive_rate), capacity_max_(capacity_max) {
    segments_[0] = make_segment({std::max<std::uint64_t>(first.capacity, 1), rate_share(promised_rate_, 0)});
    segment_count_.store(1, std::memory_order_release);
}

void admitted_set::insert(std::uint64_t fingerprint) noexcept {
    assert(has_room(1));
    std::size_t last = segment_count_.load(std::memory_order_relaxed) - 1;
    if (segments_[last]->count.load(std::memory_order_relaxed) >= segments_[last]->capacity && spare_) {
        segments_[++last] = std::move(spare_);
        segment_count_.store(last + 1, std::memory_order_release);
        has_spare_.store(false, std::memory_order_release);  // after the count: see wants_segment()
    }
    assert(last < segments_max && segments_[last]->count.load(std::memory_order_relaxed) < segments_[last]->capacity);
    segments_[last]->filter.insert(fingerprint);
    segments_[last]->count.fetch_add(1, std::memory_order_relaxed);
    size_.fetch_add(1, std::memory_order_relaxed);
    assert(segments_[last]->filter.contains(fingerprint));
}

bool admitted_set::wants_segment() const noexcept {
    // In this order: a spare that was just taken into use must be seen as the newest segment.
    if (has_spare_.load(std::memory_order_acquire)) return false;
    const std::size_t count = segment_count_.load(std::memory_order_acquire);
    const std::uint64_t capacity_max = capacity_max_.load(std::memory_order_relaxed);
    if (count == segments_max || (capacity_max != 0 && chain_capacity() >= capacity_max)) return false;
    const segment& last = *segments_[count - 1];
    return last.count.load(std::memory_order_relaxed) + reserve_of(last.capacity) >= last.capacity;
}

std::uint64_t admitted_set::chain_capacity() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;) sum += segments_[i]->capacity;
    return sum;
}

std::unique_ptr<admitted_set::segment> admitted_set::prepare_segment() const {
    const std::uint64_t chain = chain_capacity();
    assert(chain > 0 && segment_count_.load(std::memory_order_relaxed) < segments_max);
    std::uint64_t capacity = chain < large_capacity ? 3 * chain : chain;
    const std::uint64_t capacity_max = capacity_max_.load(std::memory_order_relaxed);
    if (capacity_max != 0) {
        const std::uint64_t left = capacity_max - std::min(capacity_max, chain);
        capacity = std::min(capacity, std::max(left, chain / part_beyond_max));
    }
    return make_segment({std::max(capacity, spare_capacity_min),
                         rate_share(promised_rate_, segment_count_.load(std::memory_order_acquire))});
}

void admitted_set::adopt(std::unique_ptr<segment> next) noexcept {
    assert(next && !spare_ && next->capacity >= spare_capacity_min && next->count.load(std::memory_order_relaxed) == 0);
    spare_ = std::move(next);
    has_spare_.store(true, std::memory_order_release);
}

std::size_t admitted_set::bytes() const noexcept {
    std::size_t sum = spare_ ? spare_->filter.bytes() : 0;
    for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;) sum += segments_[i]->filter.bytes();
    return sum;
}

double admitted_set::false_positive_rate() const {
    double passes_all = 1;
    for (std::size_t i = segment_count_.load(std::memory_order_acquire); i-- > 0;)
        passes_all *= 1 - expected_false_positive_rate(segments_[i]->count.load(std::memory_order_relaxed),
                                                       segments_[i]->filter.block_count());
    assert(passes_all >= 0 && passes_all <= 1);
    return 1 - passes_all;
}

bool admitted_set::save(state_encoder& out) const {
    const std::size_t count = segment_count_.load(std::memory_order_acquire);
    assert(count > 0 && count <= segments_max);
    out.numbers(promised_rate_, static_cast<std::uint64_t>(count));
    for (std::size_t i = 0; i < count; ++i) {
        const segment& each = *segments_[i];
        out.numbers(each.capacity, each.count.load(std::memory_order_relaxed),
                    static_cast<std::uint64_t>(each.filter.block_count()));
        each.filter.save(out);
    }
    return out.good();
}

std::unique_ptr<admitted_set> admitted_set::restore(state_decoder& in) {
    // 64 TiB: a larger size is damage and must not be allocated.
    constexpr std::uint64_t blocks_max = std::uint64_t{1} << 40;
    // No configuration allows less: such a segment would take any memory.
    constexpr double rate_min = 1e-9;
    std::unique_ptr<admitted_set> set{new admitted_set};
    set->promised_rate_ = in.number<double>();
    const std::uint64_t count = in.count(segments_max - 1);  // always leaves room for another
    if (count == 0 || !(set->promised_rate_ >= rate_min && set->promised_rate_ < 1)) return nullptr;
    for (std::size_t i = 0; i < count; ++i) {
        const auto capacity = in.number<std::uint64_t>();
        const auto series = in.number<std::uint64_t>();
        const std::uint64_t blocks = in.count(blocks_max);
        // No block is made for, or holds, more series than it has bits: then all bits are set.
        const auto most = static_cast<std::uint64_t>(block_bits);
        if (blocks == 0 || capacity == 0 || !in.has(blocks * 64) || capacity / blocks > most || series / blocks > most)
            return nullptr;
        set->segments_[i].reset(new segment{split_block::load(in, blocks), capacity});
        if (!in.good()) return nullptr;
        set->segments_[i]->count.store(series, std::memory_order_relaxed);
        set->size_.fetch_add(series, std::memory_order_relaxed);
    }
    assert(set->segments_[count - 1] && set->size() >= set->segments_[0]->count.load(std::memory_order_relaxed));
    set->segment_count_.store(count, std::memory_order_release);
    return set;
}

}  // namespace seriesgate
