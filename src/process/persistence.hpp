/// Saves the limiter's state and the cardinality file, slowly and beside all work, and loads them at the start.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "cardinality/cardinality_tracker.hpp"
#include "cardinality/refused_ring.hpp"
#include "cardinality/suggestions.hpp"
#include "config/config.hpp"
#include "ingest/series_sampler.hpp"
#include "limit/window.hpp"
#include "process/state_directory.hpp"
#include "process/state_file.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

/// Limits a background thread to a tenth of a core: rests nine times as long as it has worked. A low priority would not
/// do: a thread with a lock that requests need must get a core soon. This one rests without locks.
/// Threads: the working one, which also creates this.
class background_pace {
    std::stop_token stop_;
    std::mutex idle_;
    std::condition_variable_any wake_;
    std::chrono::nanoseconds rested_for_;  // CPU time of the thread, up to the last rest

  public:
    static constexpr int rests_per_work = 9;

    /// @param stop ends all rests, so that the work in progress ends soon.
    explicit background_pace(std::stop_token stop);

    /// Rests in proportion to the work since the last rest. Call it often, without a lock.
    void rest();
};

/// Threads: any.
struct state_metrics {
    counter saves;
    counter save_failures;
    gauge bytes;         ///< size of the last snapshot
    gauge save_seconds;  ///< Unix time of the last snapshot
    gauge is_failing;    ///< 1 if the last snapshot could not be written
};

void write(exposition& out, const state_metrics& metrics);

/// The identity of this installation: its state directory, and the secret of its fingerprints.
struct instance_identity {
    std::unique_ptr<state_directory> directory;  ///< null: state is not kept
    std::string secret;                          ///< see random_secret(), read_secret(), kept_secret()

    /// Locks the directory; reads or creates the secret. Throws std::runtime_error.
    explicit instance_identity(const config& settings);
};

/// Saves and loads the limiter's state, with log lines and metrics. Threads: one at a time.
class state_keeper {
    state_directory& directory_;
    const std::string secret_to_keep_;  // empty: the secret is in a file of its own
    bool is_secret_due_ = false;        // the directory is new
    const state_file file_;
    series_limiter& limiter_;
    state_metrics& metrics_;
    std::uint64_t saved_revision_ = 0;

  public:
    /// Loads the state file. All arguments outlive this.
    /// @param in has a directory.
    /// @param now by the clock that decides about requests, in a fleet the store's: by another one an hour could end.
    state_keeper(const config& settings, const instance_identity& in, const hash_key& key, series_limiter& limiter,
                 state_metrics& metrics, time_point now);

    /// Called between two pieces of a save, see state_file::save.
    using pause = std::function<void()>;

    /// @return whether the state is on disk. If not, the log says why, and the gate continues.
    bool save(const pause& between = {}) noexcept;
    /// Saves if the state has changed or the directory is gone. @return whether it has saved.
    bool save_if_changed(const pause& between = {}) noexcept;
    void note_failure(std::string_view reason);

  private:
    void load(time_point now);
};

/// Cardinality data that ingestion records and pages show; tracker and demand are saved. Threads: any.
struct shared_cardinality {
    cardinality_tracker tracker;
    refused_ring refused{};
    observed_demand demand{};
    series_sampler sampler;  ///< feeds both

    shared_cardinality(const config& settings, const hash_key& key, const series_limiter& limiter, time_point now)
        : tracker(counted_labels(settings.top_labels), key, now), sampler(tracker, refused, limiter) {}

  private:
    /// Always counts `job`, because findings name it.
    static std::vector<std::string> counted_labels(std::vector<std::string> configured) {
        if (std::ranges::find(configured, "job") == configured.end()) configured.emplace_back("job");
        return configured;
    }
};

/// Saves state and cardinality periodically and at the end. Another process may take over the directory meanwhile.
class persistence {
  public:
    struct sources {
        const config& settings;
        const instance_identity& in;
        const hash_key& key;
        series_limiter& limiter;
        shared_cardinality& cardinality;
        state_metrics& metrics;
        std::function<time_point()> now;
        /// A warm start goes on: the next process has to begin it anew, so the limiter's state is not saved.
        std::function<bool()> is_half_read = [] { return false; };
    };

    /// Loads both files. What `from` refers to outlives this.
    explicit persistence(sources from);

    /// Saves periodically at a tenth of a core, at full speed once `ending` is set. Spawn it once, on a loop for disk
    /// work.
    net::awaitable<void> run(std::stop_token ending);
    /// The last save, unless another process has the directory. Threads: that of run().
    void finish();

    /// Announces give_up(): a save in progress stops resting. Does not wait. Threads: as take_back(), not in give_up().
    void promise();
    /// Saves and releases the directory. The state must not change any more. Takes as long as the disk.
    /// @return false if the save failed, or after a take_back(); then this process keeps the directory. Threads: any.
    [[nodiscard]] bool give_up();
    /// Reclaims the directory. Does not wait.
    /// @return false if another process holds it; then every later save tries again. Threads: any.
    [[nodiscard]] bool take_back();

  private:
    void load_cardinality();
    void save_cardinality() noexcept;
    void save_now_and_then(const std::function<void()>& between);
    bool save_all();
    /// Call it with saves_ locked. Whether this process holds the directory, or has just reclaimed it; logs if not.
    [[nodiscard]] bool may_save();
    [[nodiscard]] bool is_wanted();
    [[nodiscard]] std::string get_back();

    const sources from_;
    std::optional<state_keeper> state_;            // only with a directory
    std::optional<cardinality_file> cardinality_;  // the same; cardinality and demand
    std::chrono::steady_clock::time_point cardinality_saved_ = monotonic_clock::now();
    std::mutex saves_;          // one save at a time; lock it before belongs_
    std::mutex belongs_;        // guards the two below, held only briefly
    bool is_given_up_ = false;  // another process may hold the directory
    bool is_wanted_ = true;     // false: promised to another process
};

}  // namespace seriesgate
