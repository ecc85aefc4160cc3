/// Cardinality tracker: counts new and refused series by metric, label, value and sender, for the hour and the day.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "cardinality/series_sample.hpp"
#include "cardinality/space_saving.hpp"
#include "core/state_stream.hpp"
#include "core/synchronization.hpp"
#include "filter/distinct_sketch.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- Totals of past hours.

/// Distinct series of one hour.
struct hour_counts {
    std::chrono::sys_seconds start{};
    std::uint64_t newly_admitted = 0;
    std::uint64_t refused = 0;
    bool is_exact = true;  ///< neither is an estimate

    friend bool operator==(const hour_counts&, const hour_counts&) = default;
};

/// The last ended hours. Threads: one at a time.
class past_hours {
    std::vector<hour_counts> hours_{};  // the oldest first

  public:
    static constexpr std::size_t hours_max = 24;

    /// Adds an hour. Later or equal hours in the list are dropped: the clock was set back.
    void add(const hour_counts& ended);
    /// Drops this hour and later ones: the clock was set back.
    void drop_from(std::chrono::sys_seconds start) {
        std::erase_if(hours_, [start](const hour_counts& each) { return each.start >= start; });
    }
    /// The oldest first. Hours without a running gate are missing.
    [[nodiscard]] std::span<const hour_counts> all() const noexcept { return hours_; }

    void save(state_encoder& out) const;
    /// Damaged bytes make the decoder fail and leave any content here.
    void load(state_decoder& in);
};

enum class series_event : std::uint8_t {
    newly_admitted,  ///< admitted; new in the day, and not in the hour before
    refused,
    returned,  ///< admitted again in this hour or day: not counted, only sampled
};
/// Whether an earlier hour may begin: the clock was wrong.
enum class clock_order : std::uint8_t { forward, may_go_back };
enum class cardinality_window : std::uint8_t { hourly, daily };

/// Counts the new and refused series of requests. Known series never come here.
///
/// A series counts once an hour. So the day counts a refused series once for each hour, and a new series once. Per
/// hour, the first counted_max series are counted, the first watched_max label by label. Beyond that a sample is taken
/// (thinning in space_saving.hpp), so a flood costs almost nothing.
/// Threads: any. A caller waits at most for a copy of the tables, a millisecond or two.
class cardinality_tracker {
  public:
    static constexpr std::size_t counted_max = window_sketch::exact_max;
    static constexpr std::size_t watched_max = 8'192;

    /// @param labels whose values are counted, see cardinality_tables.
    cardinality_tracker(std::span<const std::string> labels, const hash_key& hash, time_point now);

    /// Counts new or refused series of a request and samples all.
    /// @param labels asked by index in `fingerprints`.
    void note(series_event kind, std::span<const std::uint64_t> fingerprints, label_source& labels,
              const request_sender& sender, time_point now);

    /// Whether note() would skip the series, so that its labels need not be read. May lag behind.
    [[nodiscard]] bool leaves_out(series_event kind, std::uint64_t fingerprint) const noexcept {
        return thinning::is_left_out(fingerprint, level_of(kind).load(std::memory_order_relaxed));
    }
    /// About how many of so many series pass leaves_out().
    [[nodiscard]] std::size_t share(series_event kind, std::size_t series) const noexcept {
        return series >> level_of(kind).load(std::memory_order_relaxed);
    }
    /// Halves the sampling rate, for callers without time for more.
    void thin_out(series_event kind) noexcept;
    /// Adds series that nobody could note; every count may be wrong by them.
    void miss(series_event kind, std::size_t series) noexcept;

    /// Ends the hour and the day if `now` is past them. Later series count in the hour of `now`.
    /// Throws std::bad_alloc; then no count is lost, and the next call completes the rest.
    void maintain(time_point now, clock_order order = clock_order::forward);
    [[nodiscard]] time_point hour_start() { return hour_.lock()->start; }

    /// @param kind not `returned`: that kind is not counted.
    [[nodiscard]] cardinality_tables tables(series_event kind, cardinality_window window);

    /// Samples of the running hour and the one before.
    [[nodiscard]] sampled samples() { return samples_.lock()->all(); }

    /// The last hours, the oldest first; the last is the running one.
    [[nodiscard]] std::vector<hour_counts> hours();

    [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }

    /// Saves all that a restart must keep.
    void save(state_encoder& out);
    /// Restores it into an unused tracker and follows the clock: ended hours and days are dropped.
    /// @return false if damaged, or saved with other labels; then nothing has changed.
    bool load(state_decoder& in, time_point now);

  private:
    struct counts {
        cardinality_tables hour;
        thinning counted{counted_max};
        thinning watched{watched_max};
        cardinality_tables day;  ///< without the hour
        /// The hour before, until it is merged into the day. Belongs to the day once the hour has ended.
        std::optional<cardinality_tables> ended{};

        counts(std::span<const std::string> labels, const hash_key& hash) : hour(labels, hash), day(labels, hash) {}
    };
    using level = std::atomic<unsigned>;
    [[nodiscard]] const level& level_of(series_event kind) const noexcept { return levels_[std::size_t(kind)]; }
    [[nodiscard]] level& level_of(series_event kind) noexcept { return levels_[std::size_t(kind)]; }
    guarded<counts>& of(series_event kind) noexcept { return counts_[std::size_t(kind)]; }
    void count(series_event kind, std::span<const std::uint64_t> fingerprints, std::size_t first, std::size_t end,
               label_source& labels, const request_sender& sender, time_point now);
    void sample_returned(std::span<const std::uint64_t> fingerprints, std::size_t first, std::size_t end,
                         label_source& labels, std::string_view tenant);
    void end_hour(const window_span& ending, const window_span& next);
    void add_to_day(guarded<counts>& of);

    std::vector<std::string> labels_;
    const cardinality_tables none_;
    std::array<guarded<counts>, 2> counts_;  // by kind, without `returned`
    std::array<level, 3> levels_{};          // by kind: sampling level, or a higher one set under load
    guarded<series_samples> samples_{};
    guarded<window_span> hour_;
    guarded<past_hours> past_;
    std::mutex ending_;  // one hour at a time
};

}  // namespace seriesgate
