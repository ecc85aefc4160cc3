/// Who of one worker is at which door of a store, and who waits to be.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "net/asio.hpp"
#include "net/async_timer.hpp"
#include "system/clock.hpp"
#include "upstream/door_choice.hpp"
#include "upstream/shared_store.hpp"

namespace seriesgate {

class door_places;

/// A request's place at a door, and in its count of those in flight, for as long as it lives. The next who waits gets
/// it then. Nothing but the shared door has to outlive it.
class door_place {
    std::weak_ptr<door_places> of_;
    shared_door* door_;
    std::size_t index_;
    std::chrono::steady_clock::time_point since_;

  public:
    door_place(const std::shared_ptr<door_places>& of, shared_door& door, std::size_t index);
    door_place(door_place&& other) noexcept;
    door_place& operator=(door_place&&) = delete;
    ~door_place();

    [[nodiscard]] std::size_t index() const noexcept { return index_; }
    [[nodiscard]] shared_door& door() const noexcept { return *door_; }
    /// When it was taken.
    [[nodiscard]] std::chrono::steady_clock::time_point since() const noexcept { return since_; }
};

/// Doors that a request has been at in vain; none of them, until one is added.
using tried_doors = std::vector<bool>;

/// Bounds the connections of one worker to each door; who finds no room waits, and who came first goes first. Who by
/// the pace of the others would not be answered in time is told so at once. Owned by a shared_ptr. Threads: the
/// worker's.
class door_places : public std::enable_shared_from_this<door_places> {
    using clock = monotonic_clock;
    friend class door_place;

    struct waiting {
        std::weak_ptr<door_places> of;
        const tried_doors& tried;
        clock::time_point limit;
        gauge& shown;
        async_timer alarm;
        std::optional<door_place> given{};
        bool in_line = true;

        ~waiting();
    };

    shared_store& store_;
    std::vector<std::size_t> taken_;
    std::vector<door_view> views_;  // of the last choice
    std::list<waiting*> line_;
    clock::duration usual_stay_{0};  // of late
    net::io_context& io_;

  public:
    door_places(net::io_context& io, shared_store& store) : store_(store), taken_(store.doors.size()), io_(io) {}

    /// @param limit of the request.
    /// @return nothing if there is no room, or others wait for it.
    std::optional<door_place> take(const tried_doors& tried, clock::time_point limit);

    /// The same after a while.
    /// @param tried must outlive it.
    /// @return nothing if there is no room until `limit`, or surely would be none.
    net::awaitable<std::optional<door_place>> wait(const tried_doors& tried, clock::time_point limit);

    /// Lets those in who can: doors come back without anybody leaving. Call it now and then.
    void let_in();

    [[nodiscard]] std::size_t waiting_count() const noexcept { return line_.size(); }

  private:
    void look_around(const tried_doors& tried, bool is_early, clock::time_point now);
    std::optional<door_place> choose(const tried_doors& tried, clock::time_point limit);
    bool let_in(std::list<waiting*>::iterator at);
    void leave(std::size_t index, clock::duration stay);
    [[nodiscard]] bool is_in_vain(clock::time_point limit, clock::time_point now) const;
};

}  // namespace seriesgate
