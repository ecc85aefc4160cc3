/// The addresses of an upstream, kept as new as its name's.
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

// --- Which of a backend's addresses is tried first.

/// Connections begin with each address in turn, and an address that did not accept one comes last for a while.
/// Threads: one.
class address_order {
  public:
    using clock = monotonic_clock;
    using endpoints = std::vector<stream_endpoint>;

    static constexpr std::chrono::seconds memory{30};

  private:
    std::vector<std::pair<stream_endpoint, clock::time_point>> bad_;  // until when

  public:
    /// @param turn counts the connections.
    [[nodiscard]] endpoints of(const endpoints& known, std::size_t turn, clock::time_point now);

    void failed(const stream_endpoint& at, clock::time_point now);
    void connected(const stream_endpoint& at);
};

/// Nobody waits for a resolver: until it answers, and when it fails, what was known before stays in use.
/// Threads: one. It must outlive the lookups that it begins.
class address_list {
  public:
    using clock = monotonic_clock;
    using endpoints = std::vector<stream_endpoint>;
    /// Begins to look the name up, and calls with the outcome later, on the same thread.
    using lookup = std::function<void(name_resolver::answer)>;
    using time_source = std::function<clock::time_point()>;

    static constexpr std::chrono::seconds refresh_interval{30};
    /// Or as long as the lookup took, up to refresh_interval: lookups of one thread come one after the other, and a
    /// name whose server says nothing would leave the others no turn.
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
    /// Addresses that stay as they are.
    explicit address_list(endpoints fixed);
    /// Those of a name.
    explicit address_list(lookup look_up, time_source now = clock::now);
    address_list(const address_list&) = delete;
    address_list& operator=(const address_list&) = delete;

    /// Looks up if it is time to and no outcome is still to come. Call it now and then.
    void refresh();

    [[nodiscard]] const endpoints& known() const noexcept { return known_; }
    /// Whether the first outcome is there, good or bad. Threads: any.
    [[nodiscard]] bool looked_up() const noexcept { return looked_up_; }
    /// Whether there are addresses. Threads: any.
    [[nodiscard]] bool has_any() const noexcept { return has_any_; }
    /// Why the last look came to nothing, if it did.
    [[nodiscard]] error_code failure() const noexcept { return failure_; }

  private:
    void take(error_code error, endpoints found);
};

}  // namespace seriesgate
