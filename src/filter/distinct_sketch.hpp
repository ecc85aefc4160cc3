/// How many different series were seen: exactly while they are few, estimated in a few KiB when they are many.
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

/// The first ones are remembered one by one, so that the thousands of label groups that refuse nothing, or little, cost
/// next to nothing. Then a HyperLogLog with 2^IndexBits registers: standard error 1.04/sqrt(2^IndexBits).
/// Source: Flajolet et al., "HyperLogLog", 2007; estimator: Ertl, "New cardinality estimation algorithms for
/// HyperLogLog sketches", 2017, algorithm 6 (no bias tables, no switch between ranges).
/// Threads: one at a time.
/// @tparam ExactMax as many are remembered one by one. More than half the memory of the registers is for the few counts
/// that people compare with others.
template <unsigned IndexBits, std::size_t ExactMax>
class basic_distinct_sketch {
  public:
    static constexpr unsigned index_bits = IndexBits;
    static constexpr std::size_t exact_max = ExactMax;
    /// Of an estimate, as a part of it.
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

    /// @param fingerprint 64-bit hash of the series, or of whatever is counted.
    void insert(std::uint64_t fingerprint);
    /// Afterwards it has seen what `other` has seen too.
    void merge(const basic_distinct_sketch& other);
    /// Above exact_max it is an estimate, and only there.
    [[nodiscard]] std::uint64_t estimate() const;
    [[nodiscard]] bool is_exact() const noexcept { return !seen_ || !seen_->many; }
    void clear() noexcept { seen_.reset(); }
    /// Memory in use, beside the sketch itself.
    [[nodiscard]] std::size_t bytes() const noexcept;

    void save(state_encoder& out) const;
    void load(state_decoder& in);

  private:
    static constexpr int rank_max = 64 - static_cast<int>(index_bits) + 1;

    struct registers {
        std::array<std::uint8_t, 1u << index_bits> ranks{};
        /// How many registers have each rank: an estimate reads these, not 16 KiB.
        std::array<std::uint32_t, rank_max + 1> histogram{1u << index_bits};

        void insert(std::uint64_t fingerprint) noexcept;
        void raise(std::size_t index, std::uint8_t rank) noexcept;
    };
    /// Ascending, or where that would move too many, hashed.
    using few_type =
        std::conditional_t<(exact_max <= 1024), std::vector<std::uint64_t>, boost::unordered_flat_set<std::uint64_t>>;
    struct seen {
        few_type few;  // empty once there are registers
        std::unique_ptr<registers> many;
    };

    seen& open();
    void use_registers();

    /// Null until the first series: one pointer is all that a budget without refusals pays.
    std::unique_ptr<seen> seen_;
};

/// For the demand of a budget: 16 KiB, standard error 0.8 %.
using distinct_sketch = basic_distinct_sketch<14, 1024>;
/// Where there are thousands that count many: 2 KiB, standard error 2.3 %.
using small_sketch = basic_distinct_sketch<11, 128>;
/// For all refusals of a window: exact as far as whoever says whose they are counts them one by one, too. 576 KiB.
using window_sketch = basic_distinct_sketch<14, 32'768>;

extern template class basic_distinct_sketch<14, 32'768>;
extern template class basic_distinct_sketch<14, 1024>;
extern template class basic_distinct_sketch<11, 128>;

}  // namespace seriesgate
