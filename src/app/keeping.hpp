/// What is kept on disk, and the thread that keeps it.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "app/observed.hpp"
#include "app/state.hpp"
#include "config/config.hpp"

namespace seriesgate {

/// State, and what was seen of series: loaded when this is made, saved now and then, and at the end. In between
/// another process may be given all of it.
class keeping {
    const installation& in_;
    const std::chrono::milliseconds interval_;
    std::optional<state_keeper> state_;        // of a gate that counts alone
    std::optional<observed_keeper> observed_;  // of one with a directory
    std::mutex saves_;                         // one at a time; first of the two
    std::mutex belongs_;                       // guards the two below, never for long
    bool is_given_up_ = false;                 // another process may have the directory
    bool is_wanted_ = true;                    // by this process
    std::jthread thread_;

  public:
    struct sources {
        const config& settings;
        const installation& in;
        const hash_key& key;
        series_limiter& limiter;
        culprits& noted;
        state_metrics& metrics;
        bool is_in_fleet;
        std::function<time_point()> now;
    };

    /// Loads what is there. What `from` refers to outlives this.
    explicit keeping(const sources& from);

    /// From now on it is saved now and then, by a thread of its own. Threads: the one that made this.
    void start();
    /// Ends that, and saves a last time what has not been given up; waits for a give_up() that is under way.
    /// Threads: the same.
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
