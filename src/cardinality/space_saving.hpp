/// Finds the names with the most series in fixed memory, and samples series when there are too many.
#pragma once

#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state_stream.hpp"
#include "limit/window.hpp"

namespace seriesgate {

// --- Sampling.

/// Looks at all series first, each once. When they are too many to remember, it skips every second one from then on,
/// and each series looked at stands for two; later for four. The fingerprint decides, so a series refused again and
/// again counts once.
///
/// Work and memory stay bounded. The sum of weights is the number of distinct series: exact up to kept_max, unbiased
/// beyond. An entry with n series has a standard error below sqrt(n w), with the final weight w. Source: Gibbons and
/// Tirthapura, "Estimating simple functions on the union of data streams", 2001. Threads: one at a time.
class thinning {
    std::size_t kept_max_;
    boost::unordered_flat_set<std::uint64_t> kept_{};
    unsigned level_ = 0;

  public:
    static constexpr unsigned level_max = 40;
    static constexpr std::uint64_t weight_max = std::uint64_t{1} << level_max;

    /// @param kept_max fingerprints remembered at most, some 16 bytes each.
    explicit thinning(std::size_t kept_max) : kept_max_(kept_max) {}

    /// @param fingerprint keyed, so senders cannot choose its bits.
    /// @return the series it stands for; 0 if it is skipped or was looked at before.
    std::uint64_t weigh(std::uint64_t fingerprint) {
        if (is_left_out(fingerprint, level_) || kept_.contains(fingerprint)) return 0;
        if (kept_.size() == kept_max_) thin_out();
        if (is_left_out(fingerprint, level_) || kept_.size() == kept_max_) return 0;
        kept_.insert(fingerprint);
        return weight();
    }

    /// Uses the highest bits; hash tables use the lowest. The weight at a level is 2^level.
    static bool is_left_out(std::uint64_t fingerprint, unsigned level) noexcept {
        return static_cast<unsigned>(std::countl_zero(fingerprint)) < level;
    }
    [[nodiscard]] unsigned level() const noexcept { return level_; }
    /// Fingerprints of the series looked at.
    [[nodiscard]] const auto& kept() const noexcept { return kept_; }
    /// Series that the next one stands for.
    [[nodiscard]] std::uint64_t weight() const noexcept { return std::uint64_t{1} << level_; }

    /// Samples fewer from now on; for callers without time.
    void raise_to(unsigned level) {
        if (level <= level_) return;
        level_ = level < level_max ? level : level_max;
        forget_left_out();
    }

    void save(state_encoder& out) const {
        out.numbers(static_cast<std::uint32_t>(level_), static_cast<std::uint64_t>(kept_.size()));
        for (const std::uint64_t each : kept_) out.number(each);
    }
    void load(state_decoder& in) {
        level_ = in.number<std::uint32_t>();
        if (level_ > level_max) in.fail();
        const std::uint64_t count = in.count(kept_max_);
        if (!in.has(count * sizeof(std::uint64_t))) return;
        kept_.clear();
        for (std::uint64_t i = 0; i < count && in.good(); ++i) kept_.insert(in.number<std::uint64_t>());
    }

    void clear() noexcept {
        kept_.clear();
        level_ = 0;
    }

  private:
    void thin_out() {
        while (kept_.size() == kept_max_ && level_ < level_max) {
            ++level_;
            forget_left_out();
        }
    }
    void forget_left_out() {
        boost::unordered::erase_if(kept_, [this](std::uint64_t each) { return is_left_out(each, level_); });
    }
};

/// A counted name: a metric, a label value or a sender, within its tenant.
struct entry_name {
    std::string_view tenant{};
    std::string_view value{};
    std::string_view detail{};  ///< additional text: a sender's User-Agent
};

struct top_entry {
    std::string tenant{};
    std::string value{};
    std::string detail{};
    std::uint64_t series = 0;  ///< counted series,
    std::uint64_t error = 0;   ///< or at most so many fewer
    time_point first_seen{};   ///< since it has a counter
    time_point last_seen{};
};

/// The Space-Saving summary. After N series with m counters, each name with more than N/m series has a counter, and no
/// counter is wrong by more than N/m. A new name takes the smallest counter; that count becomes its error. Source:
/// Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams", 2005.
/// Texts are cut to text_max bytes. Threads: one at a time.
class space_saving {
    std::size_t counters_max_;
    std::uint64_t total_ = 0;
    std::vector<top_entry> entries_{};   // by slot
    std::vector<std::uint64_t> keys_{};  // by slot
    std::vector<std::uint32_t> heap_{};  // slots, fewest series first
    std::vector<std::uint32_t> at_{};    // by slot: position in the heap
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> places_{};

  public:
    static constexpr std::size_t text_max = 256;
    /// A larger number in a file means damage.
    static constexpr std::uint64_t series_max = std::uint64_t{1} << 48;

    /// @param counters_max at least 1.
    explicit space_saving(std::size_t counters_max);

    struct counted {
        std::size_t slot = 0;  ///< below counters_max
        bool is_new = false;   ///< the name has taken the slot of another
    };
    /// @param key keyed hash of the name, see hash_key.
    counted add(std::uint64_t key, const entry_name& name, std::uint64_t series, time_point now);

    /// Unordered; by slot.
    [[nodiscard]] std::span<const top_entry> all() const noexcept { return entries_; }
    /// By slot, as given to add().
    [[nodiscard]] std::uint64_t key(std::size_t slot) const noexcept { return keys_[slot]; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// Most series of any name without a counter.
    [[nodiscard]] std::uint64_t error_max() const noexcept;

    /// Adds the counts of `other`; errors add up.
    /// Source: Agarwal et al., "Mergeable Summaries", 2012.
    void merge(const space_saving& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    /// Damaged bytes make the decoder fail and leave any content here.
    void load(state_decoder& in);

  private:
    void make_room();
    std::uint32_t append(std::uint64_t key, top_entry as);
    void rename(std::uint32_t slot, std::uint64_t key, const entry_name& name, time_point now);
    void sink(std::size_t at) noexcept;
    void rise(std::size_t at) noexcept;
    void swap(std::size_t one, std::size_t other) noexcept;
    [[nodiscard]] std::uint64_t series_at(std::size_t at) const noexcept { return entries_[heap_[at]].series; }
};

}  // namespace seriesgate
