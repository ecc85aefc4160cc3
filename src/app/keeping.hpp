/// What is kept on disk.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

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
