/// What is kept on disk.
#pragma once

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

#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "config/config.hpp"
#include "limit/window.hpp"
#include "process/shared_cardinality.hpp"
#include "process/state_directory.hpp"
#include "process/state_file.hpp"
#include "series/fingerprint.hpp"

namespace seriesgate {

// --- Long work on a thread of its own that others hardly notice.

/// Keeps a thread to a tenth of a core: it rests for nine times as long as it has worked. Why not a low priority:
/// whoever has a lock that requests want must not be the last one to get a processor. A thread that rests does so where
/// it has none.
///
/// Threads: the one that works; it makes the pace, too.
class background_pace {
    std::stop_token stop_;
    std::mutex idle_;
    std::condition_variable_any wake_;
    std::chrono::nanoseconds rested_for_;  // CPU time of the thread that it has rested for already

  public:
    static constexpr int rests_per_work = 9;

    /// @param stop from then on nothing is rested for: what is begun is to end soon.
    explicit background_pace(std::stop_token stop);
    background_pace(const background_pace&) = delete;
    background_pace& operator=(const background_pace&) = delete;

    /// To be called now and then, without a lock. Rests for what has been worked since the last time, if it is worth
    /// it.
    void rest();
};

// --- What is counted about saving the limiter's state.

class exposition;

/// Threads: any.
struct state_metrics {
    counter saves;  ///< snapshots written to state.dir
    counter save_failures;
    gauge bytes;         ///< of the last snapshot
    gauge save_seconds;  ///< since 1970: when it was written
};

/// Its families.
void write(exposition& out, const state_metrics& metrics);

// --- Keeps the limiter's state over restarts.

class series_limiter;

/// What outlives the process: where the state is kept, and the secret that its fingerprints are made with.
struct instance_identity {
    std::unique_ptr<state_directory> directory;  ///< null if the state is not to be kept
    std::string secret;                          ///< see state/secret_file.hpp

    /// Locks the directory and reads the secret, or makes one. Throws std::runtime_error if that cannot be done.
    explicit instance_identity(const config& settings);
};

/// Saves to the directory, and tells the log and the metrics. Threads: one at a time.
class state_keeper {
    state_directory& directory_;
    const std::string secret_to_keep_;  // empty: it is in a file of its own
    const snapshot_file file_;
    series_limiter& limiter_;
    state_metrics& metrics_;
    std::uint64_t saved_revision_ = 0;

  public:
    /// Loads what is there. @param in has a directory. It, and what else is passed, outlives this.
    state_keeper(const config& settings, const instance_identity& in, const hash_key& key, series_limiter& limiter,
                 state_metrics& metrics);

    /// What is called between two pieces of a save, see snapshot_file::save.
    using pause = std::function<void()>;

    /// @return whether the state is on disk now. If not, the log says why. Nothing that goes wrong here ends the gate.
    bool save(const pause& between = {}) noexcept;
    /// Saves if something has changed since it last did, or if the directory has gone. @return whether it has.
    bool save_if_changed(const pause& between = {}) noexcept;
    /// Tells that the state is not on disk, and why.
    void note_failure(std::string_view reason);

  private:
    void load();
    bool try_save(const pause& between);
};

// --- Keeps what was seen of series over restarts.

/// Saves to the directory, and tells the log. Threads: one at a time.
class observed_keeper {
    const state_directory& directory_;
    observed_file file_;
    shared_cardinality& noted_;
    const std::function<void()> catch_up_;
    std::chrono::steady_clock::time_point saved_ = monotonic_clock::now();

  public:
    /// Loads what is there.
    /// @param catch_up has everything counted that has been seen by now; called before anything is saved.
    observed_keeper(const state_directory& directory, const hash_key& key, shared_cardinality& noted, time_point now,
                    std::function<void()> catch_up);

    /// What goes wrong is said in the log, and ends nothing.
    void save() noexcept;
    /// Saves if the last time was a minute ago, and the directory is still ours.
    void save_now_and_then() noexcept;
};

/// State, and what was seen of series: loaded when this is made, saved now and then, and at the end. In between
/// another process may be given all of it.
class persistence {
    const instance_identity& in_;
    const std::chrono::milliseconds interval_;
    std::optional<state_keeper> state_;        // of a gate that counts alone
    std::optional<observed_keeper> observed_;  // of one with a directory
    std::mutex saves_;                         // one at a time; first of the two
    std::mutex belongs_;                       // guards the two below, never for long
    bool is_given_up_ = false;                 // another process may have the directory
    bool is_wanted_ = true;                    // by this process

  public:
    struct sources {
        const config& settings;
        const instance_identity& in;
        const hash_key& key;
        series_limiter& limiter;
        shared_cardinality& noted;
        state_metrics& metrics;
        bool is_in_fleet;
        std::function<time_point()> now;
    };

    /// Loads what is there. What `from` refers to outlives this.
    explicit persistence(const sources& from);

    /// Saves now and then, a tenth of a core long, and without rests once `ending` is. Spawn it once, on an event loop
    /// that may wait for disks.
    net::awaitable<void> run(std::stop_token ending);
    /// Saves a last time what has not been given up. Threads: where run() was spawned.
    void finish();

    /// Another process is to have it: give_up() follows, and a save that is under way hurries. Waits for nothing.
    /// Threads: whose take_back() is; not while a give_up() is under way.
    void promise();
    /// Saves, and lets another process have the directory. Nothing may change any more what is saved. It may take
    /// long, if the disk does.
    /// @return false if it was not saved, or has been taken back since promise(): then it is still this process'.
    /// Threads: any.
    [[nodiscard]] bool give_up();
    /// It is this process' again. Waits for nothing.
    /// @return false if another one has the directory: then every save from now on tries to get it back.
    /// Threads: any.
    [[nodiscard]] bool take_back();

  private:
    void save_now_and_then(const std::function<void()>& between);
    bool save_all(const std::function<void()>& between);
    /// With saves_ held: whether what is saved now goes where it belongs. Tells if another process still has that.
    [[nodiscard]] bool may_save();
    [[nodiscard]] bool is_wanted();
    void get_back();
};

}  // namespace seriesgate
