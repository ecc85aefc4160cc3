/// Counts distinct series: exactly at first, then as an estimate in a few KiB.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/state_stream.hpp"

namespace seriesgate {

/// The first fingerprints are stored, so that thousands of label groups with few refusals cost almost nothing. Then a
/// HyperLogLog with 2^IndexBits registers takes over: standard error 1.04/sqrt(2^IndexBits).
/// Source: Flajolet et al., "HyperLogLog", 2007; estimator: Ertl, "New cardinality estimation algorithms for
/// HyperLogLog sketches", 2017, algorithm 6 (no bias tables, no switch between ranges). Threads: one at a time.
/// @tparam ExactMax fingerprints stored. Give counts that people compare with others a large one, even beyond half the
/// memory of the registers.
template <unsigned IndexBits, std::size_t ExactMax>
class basic_distinct_sketch {
  public:
    static constexpr unsigned index_bits = IndexBits;
    static constexpr std::size_t exact_max = ExactMax;
    /// Relative to the estimate.
    static constexpr double standard_error =
        1.04 / (std::size_t{1} << (IndexBits / 2)) / (IndexBits % 2 == 0 ? 1 : 1.41421356);

    basic_distinct_sketch() = default;
    basic_distinct_sketch(const basic_distinct_sketch& other) { merge(other); }
    basic_distinct_sketch(basic_distinct_sketch&&) noexcept = default;
    basic_distinct_sketch& operator=(const basic_distinct_sketch& other) {
        return *this = basic_distinct_sketch{other};
    }
    basic_distinct_sketch& operator=(basic_distinct_sketch&&) noexcept = default;
    ~basic_distinct_sketch() = default;

    /// @param fingerprint 64-bit hash of the counted item.
    void insert(std::uint64_t fingerprint);
    /// Adds all that `other` has seen.
    void merge(const basic_distinct_sketch& other);
    /// Exact up to exact_max.
    [[nodiscard]] std::uint64_t estimate() const;
    [[nodiscard]] bool is_exact() const noexcept { return !seen_ || !seen_->many; }
    void clear() noexcept { seen_.reset(); }
    /// Memory besides the sketch object itself, in bytes.
    [[nodiscard]] std::size_t bytes() const noexcept;

    void save(state_encoder& out) const;
    void load(state_decoder& in);

  private:
    static constexpr int rank_max = 64 - static_cast<int>(index_bits) + 1;

    struct registers {
        std::array<std::uint8_t, 1u << index_bits> ranks{};
        /// Registers by rank: an estimate reads these instead of 16 KiB.
        std::array<std::uint32_t, rank_max + 1> histogram{1u << index_bits};

        void insert(std::uint64_t fingerprint) noexcept;
        void raise(std::size_t index, std::uint8_t rank) noexcept;
    };
    /// Ascending; hashed if insertion would move too many.
    using few_type =
        std::conditional_t<(exact_max <= 1024), std::vector<std::uint64_t>, boost::unordered_flat_set<std::uint64_t>>;
    struct seen {
        few_type few;  // empty once there are registers
        std::unique_ptr<registers> many;
    };

    seen& open();
    void use_registers();

    /// Null until the first series: a budget without refusals costs one pointer.
    std::unique_ptr<seen> seen_;
};

/// For a budget: 16 KiB, standard error 0.8 %.
using distinct_sketch = basic_distinct_sketch<14, 1024>;
/// For tables with thousands of sketches: 2 KiB, standard error 2.3 %.
using small_sketch = basic_distinct_sketch<11, 128>;
/// For all refusals of a window: exact as long as the cardinality tracker counts every series too. 576 KiB.
using window_sketch = basic_distinct_sketch<14, 32'768>;

extern template class basic_distinct_sketch<14, 32'768>;
extern template class basic_distinct_sketch<14, 1024>;
extern template class basic_distinct_sketch<11, 128>;

}  // namespace seriesgate
