/// One worker's way to the shared store.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"
#include "redis/redis_connector.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

// --- A script that the server runs.

/// Servers remember scripts by the digest of their text, and forget them when they are restarted.
struct redis_script {
    std::string text;  ///< Lua
    std::string sha1;  ///< of the text, forty hexadecimal digits

    explicit redis_script(std::string lua);
};

/// One connection, which is made and made anew in the background. While the last attempt has failed, calls fail at once
/// with its error: a server that is away costs nobody any time. A call that comes before the first attempt, or after
/// the server has closed a connection that was good, waits for it.
///
/// Nothing that may have been executed is sent a second time. Threads: the one of its io_context, which must not run
/// any more when it goes.
class redis_client {
  public:
    using clock = monotonic_clock;

  private:
    net::io_context& io_;
    const redis_config& config_;
    redis_shared& shared_;
    redis_connector connector_;
    redis_connection now_;             // what calls go over
    bool proven_ = false;              // a call has been answered on it
    std::optional<redis_error> away_;  // why there is none; nothing if nobody has tried yet
    bool connecting_ = false;          // an attempt, or the pause before the next one
    bool attempting_ = false;
    clock::duration pause_{};
    std::uint64_t epoch_ = 0;
    std::string run_id_;
    std::vector<std::shared_ptr<async_timer>> attempt_awaited_;
    redis_connection asked_;                                // in a cluster: another node, for what it is named for
    std::vector<std::shared_ptr<redis_pipeline>> retired_;  // some of whose calls are still under way

  public:
    /// @param config and `shared`, which is of the same configuration, must outlive it
    redis_client(net::io_context& io, const redis_config& config, redis_shared& shared);
    redis_client(const redis_client&) = delete;
    redis_client& operator=(const redis_client&) = delete;

    /// One command, which is answered or has failed within `limit`. In a cluster it follows the keys.
    /// @param words the command's name and its arguments, of any bytes
    /// @return a redis_error also for an error reply of the server
    net::awaitable<redis_answer> call(std::vector<std::string> words, clock::duration limit);

    /// EVALSHA, and EVAL where the script is not known there.
    /// @param words the number of keys, the keys, the arguments
    net::awaitable<redis_answer> call_script(const redis_script& script, std::vector<std::string> words,
                                             clock::duration limit);
    /// The same, for a script that is to know which server it runs on: the last of the words becomes the run_id of the
    /// server at the other end of the very connection that it goes over, whichever that is by then.
    net::awaitable<redis_answer> call_script_there(const redis_script& script, std::vector<std::string> words,
                                                   clock::duration limit);

    /// Sees to it that there is a connection, and that it is alive. Call it every second.
    void maintain(clock::time_point now = clock::now());

    [[nodiscard]] bool is_connected() const noexcept { return now_.line && !now_.line->end(); }
    /// Another number for each new connection; 0 before the first.
    [[nodiscard]] std::uint64_t connection_epoch() const noexcept { return epoch_; }
    /// Of the server at the other end of the last connection: another one after its restart, and of another server.
    [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }

  private:
    using line_ptr = std::shared_ptr<redis_pipeline>;

    /// What is filled in when it is known over which connection a command goes.
    enum class last_word : std::uint8_t { as_given, run_id };

    net::awaitable<redis_answer> call_by(std::vector<std::string>& words, clock::time_point by,
                                         last_word last = last_word::as_given);
    net::awaitable<redis_answer> call_script_by(const redis_script& script, std::vector<std::string>& words,
                                                clock::time_point by, last_word last);
    net::awaitable<result<line_ptr, redis_error>> line_by(clock::time_point limit);

    void start_connecting();
    net::awaitable<void> connect_until_there();
    net::awaitable<redis_connector::connected> attempt(const host_port* to, clock::time_point limit);
    net::awaitable<void> wait_for_attempt(clock::time_point limit);
    void wake_waiting();
    void take(redis_connection made);

    net::awaitable<redis_answer> ask(const host_port& node, std::vector<std::string>& words, clock::time_point limit,
                                     last_word last);
    net::awaitable<std::optional<redis_error>> connect_for_asking(const host_port& node, clock::time_point limit);
    void follow(const line_ptr& from, const host_port& to);

    void judge(const line_ptr& line, const redis_answer& answer);
    void look(clock::time_point now = clock::now());
    void go_away(redis_error why);
    void retire(line_ptr line);
    void clear_retired(clock::time_point now = clock::now());
};

}  // namespace seriesgate
