/// Whose the new and the refused series are: of this hour, and of the day.
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

// --- How many series were new, and how many refused, in each of the last hours.

/// One hour: series that were counted, each once.
struct hour_counts {
    std::chrono::sys_seconds start{};
    std::uint64_t newly_admitted = 0;
    std::uint64_t refused = 0;
    bool is_exact = true;  ///< neither is an estimate

    friend bool operator==(const hour_counts&, const hour_counts&) = default;
};

/// Whether it is the beginning of an hour that a gate may have seen: from 1970 to 2242, since a time_point does not
/// reach much further.
bool begins_hour(std::int64_t seconds) noexcept;

/// Hours that have ended; the last ones. Threads: one at a time.
class past_hours {
    std::vector<hour_counts> hours_{};  // the oldest first

  public:
    static constexpr std::size_t hours_max = 24;

    /// One that begins no later than another in here comes after a clock that was set back: those are forgotten.
    void add(const hour_counts& ended);
    /// The oldest first. Hours in which there was no gate are left out.
    [[nodiscard]] std::span<const hour_counts> all() const noexcept { return hours_; }

    void save(state_encoder& out) const;
    /// Damage makes the decoder fail, and leaves anything in this.
    void load(state_decoder& in);
};

enum class series_event : std::uint8_t {
    newly_admitted,  ///< admitted, and new: neither the day nor the hour before has had it
    refused,
    returned,  ///< admitted, and one of these has had it: not counted, but a part of them is sampled
};
enum class cardinality_window : std::uint8_t { hourly, daily };

/// What requests have brought, counted beside the way of known series: those cost nothing here.
///
/// A series counts once an hour. So in the day it counts as often as it was refused in hours; it arrives once. In an
/// hour the first counted_max series are all counted, and the first watched_max looked at label by label; of what comes
/// then a part is, see thinning.hpp, so that a flood costs next to nothing.
///
/// Threads: any. Whoever counts waits for a copy of the tables at most, a millisecond or two.
class cardinality_tracker {
  public:
    static constexpr std::size_t counted_max = window_sketch::exact_max;
    static constexpr std::size_t watched_max = 8'192;

    /// @param labels whose values are counted, see cardinality_tables.
    cardinality_tracker(std::span<const std::string> labels, const hash_key& hash, time_point now);

    /// Some entries of one request. Counts what is new and what is refused, and samples all.
    void note(series_event kind, std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
              label_source& labels, const request_sender& sender, time_point now);

    /// Whether note() would leave it out: then nothing need be known of it. May be behind.
    [[nodiscard]] bool leaves_out(series_event kind, std::uint64_t fingerprint) const noexcept {
        return thinning::is_left_out(fingerprint, level_of(kind).load(std::memory_order_relaxed));
    }
    /// How many of so many series it leaves, about.
    [[nodiscard]] std::size_t share(series_event kind, std::size_t series) const noexcept {
        return series >> level_of(kind).load(std::memory_order_relaxed);
    }
    /// From now on half as many are looked at: there is no time for more.
    void thin_out(series_event kind) noexcept;
    /// So many series that nobody could note: every count may be wrong by them.
    void miss(series_event kind, std::size_t series) noexcept;

    /// Ends the hour and the day if `now` is behind them: what is noted from here on counts in the hour of `now`.
    /// Throws std::bad_alloc; then no count is lost, and the next call does what is left.
    void maintain(time_point now);
    /// When the hour began in which is counted.
    [[nodiscard]] time_point hour_start() { return hour_.lock()->start; }

    /// @param kind not returned: those are not counted.
    [[nodiscard]] cardinality_tables tables(series_event kind, cardinality_window window);

    /// Of the hour that runs and the one before.
    [[nodiscard]] sampled samples() { return samples_.lock()->all(); }

    /// The last hours, the oldest first; the last one is the hour that is running.
    [[nodiscard]] std::vector<hour_counts> hours();

    /// Whose values are counted.
    [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }

    /// What a restart must not forget.
    void save(state_encoder& out);
    /// Takes it over, and follows the clock: hours and days that have ended since are left out. Before anything is
    /// noted. @return false if it makes no sense, or has other labels; then nothing has changed.
    bool load(state_decoder& in, time_point now);

  private:
    /// Of one kind.
    struct counts {
        cardinality_tables hour;
        thinning counted{counted_max};
        thinning watched{watched_max};
        cardinality_tables day;  ///< without the hour
        /// The hour before, until it has been added to the day. It belongs to the day from its end on.
        std::optional<cardinality_tables> ended{};

        counts(std::span<const std::string> labels, const hash_key& hash) : hour(labels, hash), day(labels, hash) {}
    };
    using level = std::atomic<unsigned>;
    [[nodiscard]] const level& level_of(series_event kind) const noexcept { return levels_[std::size_t(kind)]; }
    [[nodiscard]] level& level_of(series_event kind) noexcept { return levels_[std::size_t(kind)]; }
    guarded<counts>& of(series_event kind) noexcept {
        return kind == series_event::newly_admitted ? newly_admitted_ : refused_;
    }
    void count(series_event kind, std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
               label_source& labels, const request_sender& sender, time_point now);
    void sample_returned(std::span<const offered_series> offered, std::span<const std::uint32_t> entries,
                         label_source& labels, std::string_view tenant);
    void end_hour(const window_span& ending, const window_span& next);
    void add_to_day(guarded<counts>& of);

    std::vector<std::string> labels_;
    const cardinality_tables none_;
    guarded<counts> newly_admitted_, refused_;
    std::array<level, 3> levels_{};  // by kind: of the thinning, or ahead of it
    guarded<series_samples> samples_{};
    guarded<window_span> hour_;
    guarded<past_hours> past_;
    std::mutex ending_;  // one hour at a time
};

}  // namespace seriesgate
