/// Which backend of a store gets a request, and the queue of requests when all connections are in use.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "net/async.hpp"
#include "upstream/circuit_breaker.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

struct backend_view {
    backend_state state = backend_state::healthy;
    bool has_trial = false;  ///< a request now would be the trial request
    double share = 1;
    std::int64_t in_flight = 0;  ///< of all workers
    bool has_room = true;        ///< for another connection of this worker
    bool tried = false;
    circuit_breaker::clock::time_point due{};
};

/// Takes the healthy backend with fewest requests in flight; equal ones take turns. A half-open backend without a trial
/// request comes first, if it has room. Overloaded backends come after the healthy ones. If all are ejected, the one
/// that is due soonest. A request waits for a slot of a better backend rather than take a worse one; a recovering
/// backend does not count as worse.
/// @param turn counts the choices.
/// @return nothing if there is no room.
[[nodiscard]] std::optional<std::size_t> choose_backend(std::span<const backend_view> backends,
                                                        std::uint64_t turn) noexcept;

class backend_slots;

/// A connection slot. While it lives it counts as a request in flight; then the next request in the queue gets it. Only
/// the shared_backend must outlive it.
class backend_slot {
    std::weak_ptr<backend_slots> of_;
    shared_backend* backend_;
    std::size_t index_;
    std::chrono::steady_clock::time_point since_;

  public:
    backend_slot(const std::shared_ptr<backend_slots>& of, shared_backend& backend, std::size_t index);
    backend_slot(backend_slot&& other) noexcept;
    backend_slot& operator=(backend_slot&&) = delete;
    ~backend_slot();

    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] shared_backend& backend() const noexcept { return *backend_; }
    [[nodiscard]] std::chrono::steady_clock::time_point since() const noexcept { return since_; }
};

/// Backends on which this request has failed, by index; empty: none.
using tried_backends = std::vector<bool>;

/// Bounds one worker's connections to each backend; requests without a free slot wait in a queue. A request whose wait
/// would surely pass its time limit gets an answer at once. Owned by a shared_ptr. Threads: the worker's.
class backend_slots : public std::enable_shared_from_this<backend_slots> {
    using clock = monotonic_clock;
    friend class backend_slot;

    struct waiting {
        std::weak_ptr<backend_slots> of;
        const tried_backends& tried;
        clock::time_point limit;
        gauge& shown;
        async_timer alarm;
        std::optional<backend_slot> given{};
        bool is_queued = true;

        ~waiting();
    };

    shared_store& store_;
    std::vector<std::size_t> taken_;
    std::vector<backend_view> views_;  // of the last choice
    std::list<waiting*> queue_;
    clock::duration average_hold_{0};  // running average
    net::io_context& io_;

  public:
    backend_slots(net::io_context& io, shared_store& store) : store_(store), taken_(store.backends.size()), io_(io) {}

    /// @param limit of the request. @return nothing if there is no room, or others wait already.
    std::optional<backend_slot> take(const tried_backends& tried, clock::time_point limit);

    /// Like take(), but waits in the queue.
    /// @param tried must outlive the wait.
    /// @return nothing if no slot is free until `limit`, or surely none would be.
    net::awaitable<std::optional<backend_slot>> wait(const tried_backends& tried, clock::time_point limit);

    /// Serves the queue: backends recover without any request leaving. Call it now and then.
    void serve_queue();

    [[nodiscard]] std::size_t waiting_count() const noexcept { return queue_.size(); }

  private:
    void update_views(const tried_backends& tried, bool is_early, clock::time_point now);
    std::optional<backend_slot> choose(const tried_backends& tried, clock::time_point limit);
    bool serve(std::list<waiting*>::iterator at);
    void leave(std::size_t index, clock::duration stay);
    [[nodiscard]] bool would_time_out(clock::time_point limit, clock::time_point now) const;
};

}  // namespace seriesgate
