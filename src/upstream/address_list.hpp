/// The addresses of a backend: looked up in the background, and tried in a fair order.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "net/socket.hpp"

namespace seriesgate {

// --- The order of addresses.

/// Rotates through the addresses. An address that did not accept a connection comes last for `memory`. Threads: one.
class address_order {
  public:
    using clock = monotonic_clock;
    using endpoints = std::vector<stream_endpoint>;

    static constexpr std::chrono::seconds memory{30};

  private:
    std::vector<std::pair<stream_endpoint, clock::time_point>> bad_;  // with the time until which it comes last

  public:
    /// @param turn counts the connections.
    [[nodiscard]] endpoints of(const endpoints& known, std::size_t turn, clock::time_point now);

    void failed(const stream_endpoint& at, clock::time_point now);
    void connected(const stream_endpoint& at);
};

/// Keeps the last known addresses until the resolver answers, and when it fails, so no request waits for a lookup.
/// Threads: one. Must outlive the lookups that it begins.
class address_list {
  public:
    using clock = monotonic_clock;
    using endpoints = std::vector<stream_endpoint>;
    /// Starts a lookup and returns. Reports the outcome later, on the same thread.
    using lookup = std::function<void(name_resolver::answer)>;
    using time_source = std::function<clock::time_point()>;

    static constexpr std::chrono::seconds refresh_interval{30};
    /// Pause after a failure; longer if the lookup took longer, up to refresh_interval. Lookups of a thread run one
    /// after the other, and a silent name server must not keep the others from running.
    static constexpr std::chrono::seconds retry_interval{1};

  private:
    lookup look_up_;
    time_source now_;
    clock::time_point due_{};
    clock::time_point asked_at_{};
    bool asking_ = false;
    std::atomic<bool> looked_up_{false};
    std::atomic<bool> has_any_{false};
    error_code failure_;
    endpoints known_;

  public:
    explicit address_list(endpoints fixed);
    explicit address_list(lookup look_up, time_source now = clock::now);

    /// Starts a lookup if one is due and none is running. Call it now and then.
    void refresh();

    [[nodiscard]] const endpoints& known() const noexcept { return known_; }
    /// Whether the first lookup has finished, well or not. Threads: any.
    [[nodiscard]] bool looked_up() const noexcept { return looked_up_; }
    [[nodiscard]] bool has_any() const noexcept { return has_any_; }
    /// Error of the last lookup, if it failed.
    [[nodiscard]] error_code failure() const noexcept { return failure_; }

  private:
    void take(error_code error, endpoints found);
};

}  // namespace seriesgate
