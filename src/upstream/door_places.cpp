#include "upstream/door_places.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "net/async_timer.hpp"
#include "system/clock.hpp"

namespace seriesgate {
namespace {

/// Who has taken a trial and has come to no result by then is not waited for.
constexpr auto trial_grace = std::chrono::seconds{5};
/// The last eight requests have most of the weight in what is usual.
constexpr int stays_remembered = 8;

bool has_tried(const tried_doors& tried, std::size_t index) {
    return index < tried.size() && tried[index];
}

}  // namespace

door_place::door_place(const std::shared_ptr<door_places>& of, shared_door& door, std::size_t index)
    : of_(of), door_(&door), index_(index), since_(monotonic_clock::now()) {
    ++of->taken_[index];
    door.in_flight.add();
}

door_place::door_place(door_place&& other) noexcept
    : of_(std::move(other.of_)),
      door_(std::exchange(other.door_, nullptr)),
      index_(other.index_),
      since_(other.since_) {}

door_place::~door_place() {
    if (door_ == nullptr) return;
    door_->in_flight.sub();
    if (const auto of = of_.lock()) of->leave(index_, monotonic_clock::now() - since_);
}

door_places::waiting::~waiting() {
    shown.sub();
    if (!in_line) return;
    if (const auto from = of.lock()) from->line_.remove(this);
}

/// @param is_early whether it has the time for a trial.
void door_places::look_around(const tried_doors& tried, bool is_early, clock::time_point now) {
    views_.clear();
    for (std::size_t i = 0; i < store_.doors.size(); ++i) {
        door_health& health = store_.doors[i].health;
        views_.push_back({.standing = health.standing(),
                          .has_trial = is_early && health.has_trial(now),
                          .share = health.share(now),
                          .in_flight = store_.doors[i].in_flight.value(),
                          .has_room = taken_[i] < store_.connections_each_max,
                          .tried = has_tried(tried, i),
                          .due = health.due()});
    }
}

/// Whoever has little time left would not get to know whether a door on trial answers.
std::optional<door_place> door_places::choose(const tried_doors& tried, clock::time_point limit) {
    const auto now = clock::now();
    look_around(tried, limit - now >= store_.upstream.timeout / 2, now);
    const auto turn = store_.turn.fetch_add(1, std::memory_order_relaxed);
    for (;;) {
        const auto chosen = choose_door(views_, turn);
        if (!chosen) return std::nullopt;
        shared_door& door = store_.doors[*chosen];
        bool& is_trial = views_[*chosen].has_trial;
        if (!is_trial || door.health.take_trial(now, limit + trial_grace))
            return door_place{shared_from_this(), door, *chosen};
        is_trial = false;  // another worker was faster
    }
}

std::optional<door_place> door_places::take(const tried_doors& tried, clock::time_point limit) {
    return line_.empty() ? choose(tried, limit) : std::nullopt;
}

void door_places::leave(std::size_t index, clock::duration stay) {
    --taken_[index];
    usual_stay_ += (stay - usual_stay_) / stays_remembered;
    let_in();
}

/// Who has no time left gets no place, and is told so.
/// @return whether that one waits no more.
bool door_places::let_in(std::list<waiting*>::iterator at) {
    waiting& one = **at;
    if (one.limit >= clock::now() + usual_stay_ / 2) {
        auto place = choose(one.tried, one.limit);
        if (!place) return false;
        one.given.emplace(std::move(*place));
    }
    line_.erase(at);
    one.in_line = false;
    one.alarm.cancel();
    return true;
}

/// When all have waited for long, who came last still has the time for a trial.
void door_places::let_in() {
    while (!line_.empty())
        if (!let_in(line_.begin())) break;
    if (line_.size() > 1) let_in(std::prev(line_.end()));
}

/// All that stand in line before, at the pace of late, and then its own turn.
bool door_places::is_in_vain(clock::time_point limit, clock::time_point now) const {
    const auto up = std::ranges::count_if(store_.doors, [](const shared_door& each) { return each.health.is_up(); });
    const auto places = static_cast<clock::rep>(store_.connections_each_max) * std::max<clock::rep>(up, 1);
    const auto line = static_cast<clock::rep>(line_.size()) + 1;
    return now + usual_stay_ + usual_stay_ * line / places > limit;
}

net::awaitable<std::optional<door_place>> door_places::wait(const tried_doors& tried, clock::time_point limit) {
    if (is_in_vain(limit, clock::now())) co_return std::nullopt;
    store_.waits.add();
    store_.waiting.add();
    waiting own{
        .of = weak_from_this(), .tried = tried, .limit = limit, .shown = store_.waiting, .alarm = async_timer{io_}};
    own.alarm.expires_at(limit);
    line_.push_back(&own);
    co_await own.alarm.async_wait(no_throw);
    co_return std::move(own.given);
}

}  // namespace seriesgate
