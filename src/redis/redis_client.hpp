/// One worker's client of the shared store (Valkey or Redis).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "redis/redis_connector.hpp"
#include "redis/redis_shared.hpp"

namespace seriesgate {

// --- Scripts.

/// A Lua script. Servers cache scripts by digest, and forget them at a restart.
struct redis_script {
    std::string text;
    std::string sha1;  ///< forty hexadecimal digits

    explicit redis_script(std::string lua);
};

/// One connection, made and remade in the background. After a failed attempt calls fail at once with its error, so an
/// absent server delays no request. A call waits for the connection before the first attempt, and after the server has
/// closed a good connection.
///
/// Never repeats a command that may have been executed. Threads: that of its io_context, which must have stopped before
/// this object is destroyed.
class redis_client {
  public:
    using clock = monotonic_clock;

  private:
    net::io_context& io_;
    const redis_config& config_;
    redis_shared& shared_;
    redis_connector connector_;
    redis_connection now_;             // used for calls
    clock::time_point made_at_{};      // that connection
    bool proven_ = false;              // a call on it has been answered
    std::optional<redis_error> away_;  // why there is no connection; nothing before the first attempt
    bool connecting_ = false;          // an attempt, or the pause before the next
    std::shared_ptr<bool> attempting_ = std::make_shared<bool>(false);
    clock::duration pause_{};
    std::uint64_t epoch_ = 0;
    std::vector<std::shared_ptr<async_timer>> attempt_awaited_;
    redis_connection asked_;                                // in a cluster: another node, for one command after ASK
    std::vector<std::shared_ptr<redis_pipeline>> retired_;  // with calls still in progress

  public:
    /// @param config of `shared`, too. Both must outlive this object.
    redis_client(net::io_context& io, const redis_config& config, redis_shared& shared);
    redis_client(const redis_client&) = delete;
    redis_client& operator=(const redis_client&) = delete;

    /// Sends one command. In a cluster it follows the keys. Answers or fails within `limit`.
    /// @param words the command's name and arguments, any bytes
    /// @return a redis_error also for an error reply
    net::awaitable<redis_answer> call(std::vector<std::string> words, clock::duration limit);

    /// Sends EVALSHA, and EVAL if the server does not know the script.
    /// @param words the number of keys, the keys, the arguments; a last one, which is replaced by the run_id of the
    /// server that the connection leads to
    net::awaitable<redis_answer> call_script(const redis_script& script, std::vector<std::string> words,
                                             clock::duration limit);

    /// Connects if needed, and checks the connection. Call it every second.
    void maintain(clock::time_point now = clock::now());
    /// Leaves another server than this one, at most once a second: a name may lead elsewhere now. Empty: any.
    void follow_server(const std::string& run_id, clock::time_point now = clock::now());

    [[nodiscard]] bool is_connected() const noexcept { return now_.line && !now_.line->end(); }
    /// A new number for each connection; 0 before the first.
    [[nodiscard]] std::uint64_t connection_epoch() const noexcept { return epoch_; }
    /// Identifies the server of the last connection; changes with its restart.
    [[nodiscard]] const std::string& run_id() const noexcept { return now_.run_id; }

  private:
    using line_ptr = std::shared_ptr<redis_pipeline>;

    /// Whether call_by() fills in the last word once the connection is known.
    enum class last_word : std::uint8_t { as_given, run_id };

    net::awaitable<redis_answer> call_by(std::vector<std::string>& words, clock::time_point by,
                                         last_word last = last_word::as_given);
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
