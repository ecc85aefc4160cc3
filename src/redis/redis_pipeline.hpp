/// The calls on one connection: sent as they come, answered in their order.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "net/asio.hpp"
#include "net/async.hpp"
#include "net/timed_stream.hpp"
#include "redis/redis_reply.hpp"

namespace seriesgate {

// --- A command as it goes over the connection.

/// @param words at least one, of any bytes.
[[nodiscard]] std::string command_text(const std::vector<std::string>& words);

/// Any number of coroutines may have a call under way, up to a bound. A call that is given up keeps its place, so that
/// its late reply is known for what it is, and thrown away.
///
/// The coroutines that read and write own the pipeline, too, and it is theirs alone once it is closed: it can be
/// forgotten then, and not before. Threads: the one of its io_context.
class redis_pipeline : public std::enable_shared_from_this<redis_pipeline> {
  public:
    using clock = monotonic_clock;

    static constexpr std::size_t calls_max = 1024;  ///< under way, given up or not
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
    /// @param stream connected, and with TLS if there is to be any. From now on it has no other time limit than that
    /// of who closes it: see is_overdue().
    explicit redis_pipeline(timed_stream stream);

    /// Sends a command and waits for its reply.
    /// @return a redis_error for an error reply, too. Whatever the error is, if it is not an error reply the command
    /// may have been executed, or may be yet, except where nothing was sent: is_full(). The pipeline must be kept while
    /// it is waited for.
    [[nodiscard]] net::awaitable<redis_answer> call(const std::vector<std::string>& words, clock::time_point limit);

    /// Sends a command whose reply nobody waits for. Does nothing if it is full, or closed.
    void post(const std::vector<std::string>& words, clock::time_point limit);

    /// Calls under way that have not been given up are answered with the error.
    void close(redis_error why);
    /// Why it is closed; nothing while it is open.
    [[nodiscard]] const std::optional<redis_error>& end() const noexcept { return end_; }

    [[nodiscard]] bool is_idle() const noexcept { return waiting_.empty(); }
    [[nodiscard]] bool is_full() const noexcept;
    /// Whether the oldest reply that is still to come is so much later than its call's limit: the peer is stuck, or the
    /// network gone.
    [[nodiscard]] bool is_overdue(clock::time_point now, clock::duration by) const noexcept;
    /// When something was last sent, or came.
    [[nodiscard]] clock::time_point used_at() const noexcept { return used_at_; }
    /// Replies that came when their calls had been given up, since this was last asked.
    [[nodiscard]] std::size_t take_late() noexcept;

  private:
    std::shared_ptr<pending> begin(const std::vector<std::string>& words, clock::time_point limit);
    void answer(pending& one, redis_answer with);
    void take(std::string_view bytes);
    void take(redis_reply reply);
    static net::awaitable<void> read_all(std::shared_ptr<redis_pipeline> of);
    static net::awaitable<void> write_all(std::shared_ptr<redis_pipeline> of);
};

}  // namespace seriesgate
