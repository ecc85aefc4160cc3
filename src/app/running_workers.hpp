/// The workers at work, on a thread each.
#pragma once

#include <chrono>
#include <thread>
#include <vector>

#include "app/serving.hpp"
#include "net/event_loop.hpp"

namespace seriesgate {

class running_workers {
    const worker_threads& workers_;
    std::vector<std::jthread> threads_;

  public:
    /// What is passed outlives this.
    running_workers(const worker_threads& workers, const config& settings, const thread_starter& by);
    running_workers(const running_workers&) = delete;
    running_workers& operator=(const running_workers&) = delete;
    ~running_workers() { stop(); }

    void stop() noexcept;

  private:
    void start(std::size_t number, const config& settings, const thread_starter& by);
};

/// When the worker that has waited for its turn for the longest was last seen to work. Threads: any.
[[nodiscard]] std::chrono::steady_clock::time_point oldest_turn(const worker_threads& workers) noexcept;

}  // namespace seriesgate
