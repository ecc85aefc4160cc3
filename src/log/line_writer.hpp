/// Lines on their way to a file descriptor that nobody waits for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace seriesgate::log {

/// Whoever reads the log may be slow, stopped, or gone (a pipe, a terminal, a full disk), and no request may wait for
/// that. So lines are put into a queue of bounded size, and one thread writes them, in order. What finds the queue full
/// is lost and counted; before the next line that does not, another one says how many were. Threads: any.
class line_writer {
  public:
    /// The line that tells of lost ones.
    using loss_line = std::function<std::string(std::uint64_t lines)>;

    static constexpr std::size_t queued_bytes_max = 1u << 20;

    /// @param descriptor stays the caller's.
    line_writer(int descriptor, loss_line describe);
    line_writer(const line_writer&) = delete;
    line_writer& operator=(const line_writer&) = delete;
    /// What has not been written yet is lost: see flush(). Waits for a write that the descriptor neither takes nor
    /// refuses, as that of a terminal may be.
    ~line_writer() = default;

    /// @param line with its end of line.
    void put(std::string line);

    /// Waits until what was put before is written, but no longer than that.
    void flush(std::chrono::steady_clock::duration limit);

    /// Ends the thread or, if it is writing, is rid of it: then this must never be destroyed. What is put from then on
    /// may stay in the queue.
    void let_go();

    /// Lines that were put and have been lost, since the start. (Those that tell of them do not count.)
    [[nodiscard]] std::uint64_t lost() const;

  private:
    struct queued {
        std::string text;
        std::uint64_t tells = 0;  ///< of so many lost lines; 0: a line that was put
    };

    void add(std::string line, std::uint64_t tells = 0);
    void run(const std::stop_token& stop);
    bool write_whole(const std::stop_token& stop, const std::string& line) const;

    const int descriptor_;
    const loss_line describe_;
    mutable std::mutex guard_;
    std::condition_variable_any wake_;
    std::condition_variable_any idle_;
    std::deque<queued> queue_;  // the first one is being written
    std::size_t queued_bytes_ = 0;
    std::uint64_t lost_ = 0;
    std::uint64_t told_ = 0;  // of the lost ones
    std::jthread thread_;     // last: it is joined before the rest goes
};

}  // namespace seriesgate::log
