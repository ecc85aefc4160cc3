/// Pipelined calls on one connection, answered in order.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "net/timed_stream.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

// --- Commands.

/// @param words at least one, of any bytes.
[[nodiscard]] std::string command_text(const std::vector<std::string>& words);

/// Runs many calls at once, up to calls_max. An abandoned call keeps its position, so that its late reply is recognised
/// and dropped.
///
/// Its reading and writing coroutines share ownership, so after close() callers may release it, but not before.
/// Threads: that of its io_context.
class redis_pipeline : public std::enable_shared_from_this<redis_pipeline> {
  public:
    using clock = monotonic_clock;

    static constexpr std::size_t calls_max = 1024;  ///< in progress, abandoned ones included
    static constexpr std::size_t unsent_bytes_max = 8 << 20;

  private:
    struct pending {
        async_timer wakes;
        clock::time_point limit;
        std::optional<redis_answer> answer{};
        bool is_given_up = false;
    };

    timed_stream stream_;
    reply_reader reader_;
    std::deque<std::shared_ptr<pending>> waiting_;
    std::string unsent_;
    std::size_t sending_bytes_ = 0;
    bool reading_ = false;
    bool writing_ = false;
    std::optional<redis_error> end_;
    clock::time_point used_at_ = clock::now();
    std::size_t late_ = 0;

  public:
    /// For std::make_shared.
    /// @param stream connected, after the TLS handshake if any. It then has no time limit; the owner closes it: see
    /// is_overdue().
    explicit redis_pipeline(timed_stream stream);

    /// Sends a command and waits for its reply. Keep the pipeline meanwhile.
    /// @return a redis_error also for an error reply. After other errors the command may have been executed, or may be
    /// yet, unless nothing was sent: is_full().
    [[nodiscard]] net::awaitable<redis_answer> call(const std::vector<std::string>& words, clock::time_point limit);

    /// Sends a command and ignores its reply. Does nothing if full or closed.
    void post(const std::vector<std::string>& words, clock::time_point limit);

    /// Ends the calls in progress with `why`.
    void close(redis_error why);
    /// Why it is closed; nothing while open.
    [[nodiscard]] const std::optional<redis_error>& end() const noexcept { return end_; }

    [[nodiscard]] bool is_idle() const noexcept { return waiting_.empty(); }
    [[nodiscard]] bool is_full() const noexcept;
    /// Whether the oldest missing reply is later than its limit by more than `by`: the peer hangs, or the network is
    /// gone.
    [[nodiscard]] bool is_overdue(clock::time_point now, clock::duration by) const noexcept;
    [[nodiscard]] clock::time_point used_at() const noexcept { return used_at_; }
    /// Late replies of abandoned calls since the last call of this function.
    [[nodiscard]] std::size_t take_late() noexcept { return std::exchange(late_, 0); }

  private:
    std::shared_ptr<pending> begin(const std::vector<std::string>& words, clock::time_point limit);
    void answer(pending& one, redis_answer with);
    void take(std::string_view bytes);
    void take(redis_reply reply);
    static net::awaitable<void> read_all(std::shared_ptr<redis_pipeline> of);
    static net::awaitable<void> write_all(std::shared_ptr<redis_pipeline> of);
};

}  // namespace seriesgate
