/// Who has the most series, in memory that does not grow with how many there are.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/state_stream.hpp"
#include "limit/window.hpp"

namespace seriesgate {

/// What is counted: a metric, a value of a label, a sender, as its tenant has it.
struct talker_name {
    std::string_view tenant{};
    std::string_view value{};
    std::string_view detail{};  ///< what else is known of it: of a sender its User-Agent
};

/// One of those with the most series.
struct talker {
    std::string tenant{};
    std::string value{};
    std::string detail{};
    std::uint64_t series = 0;  ///< it has so many,
    std::uint64_t error = 0;   ///< or at most so many fewer
    time_point first_seen{};   ///< since it is counted
    time_point last_seen{};
};

/// The Space-Saving summary: of N series that were counted with m counters, each talker with more than N/m series has
/// one, and no counter is wrong by more than N/m. A newcomer takes the counter of whoever has the fewest, and that
/// one's count as its error. Source: Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and Top-k
/// Elements in Data Streams", 2005.
///
/// Texts are kept up to text_max bytes. Threads: one at a time.
class space_saving {
    std::size_t counters_max_;
    std::uint64_t total_ = 0;
    std::vector<talker> talkers_{};      // by place
    std::vector<std::uint64_t> keys_{};  // by place
    std::vector<std::uint32_t> heap_{};  // places, the one with the fewest series first
    std::vector<std::uint32_t> at_{};    // by place: where it is in the heap
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> places_{};

  public:
    static constexpr std::size_t text_max = 256;
    /// More than ever come: a larger number in a file is damage.
    static constexpr std::uint64_t series_max = std::uint64_t{1} << 48;

    /// @param counters_max at least 1.
    explicit space_saving(std::size_t counters_max);

    struct counted {
        std::size_t place = 0;  ///< below counters_max
        bool is_new = false;    ///< whoever had the place before has it no more
    };
    /// @param key hash of the name, one that senders cannot work out: see hash_key.
    counted add(std::uint64_t key, const talker_name& name, std::uint64_t series, time_point now);

    /// In no order; by place.
    [[nodiscard]] std::span<const talker> all() const noexcept { return talkers_; }
    /// By place, as given to add().
    [[nodiscard]] std::uint64_t key(std::size_t place) const noexcept { return keys_[place]; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// Whoever is not among them has at most so many.
    [[nodiscard]] std::uint64_t error_max() const noexcept;

    /// Afterwards it has counted what `other` has counted, too: errors add up.
    /// Source: Agarwal et al., "Mergeable Summaries", 2012.
    void merge(const space_saving& other);
    void clear() noexcept;

    void save(state_encoder& out) const;
    /// Damage makes the decoder fail, and leaves anything in this.
    void load(state_decoder& in);

  private:
    void make_room();
    std::uint32_t append(std::uint64_t key, talker as);
    void rename(std::uint32_t place, std::uint64_t key, const talker_name& name, time_point now);
    void sink(std::size_t at) noexcept;
    void rise(std::size_t at) noexcept;
    void swap(std::size_t one, std::size_t other) noexcept;
    [[nodiscard]] std::uint64_t series_at(std::size_t at) const noexcept { return talkers_[heap_[at]].series; }
};

}  // namespace seriesgate
