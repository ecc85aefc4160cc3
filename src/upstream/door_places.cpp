#include "upstream/door_places.hpp"

#include <algorithm>
#include <utility>

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
    : of_(of), door_(&door), index_(index), since_(std::chrono::steady_clock::now()) {
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
    if (const auto of = of_.lock()) of->leave(index_, std::chrono::steady_clock::now() - since_);
}

door_places::waiting::~waiting() {
    shown.sub();
    if (!in_line) return;
    if (const auto from = of.lock()) from->line_.remove(this);
}

std::optional<door_place> door_places::choose(const tried_doors& tried) {
    const auto now = clock::now();
    views_.clear();
    for (std::size_t i = 0; i < store_.doors.size(); ++i) {
        door_health& health = store_.doors[i].health;
        views_.push_back({.standing = health.standing(),
                          .has_trial = health.has_trial(now),
                          .share = health.share(now),
                          .in_flight = store_.doors[i].in_flight.value(),
                          .has_room = taken_[i] < store_.connections_each_max,
                          .tried = has_tried(tried, i),
                          .due = health.due()});
    }
    const auto chosen = choose_door(views_, store_.turn.fetch_add(1, std::memory_order_relaxed));
    if (!chosen) return std::nullopt;
    shared_door& door = store_.doors[*chosen];
    // If another worker takes the trial in the same moment, there are two of them.
    if (views_[*chosen].has_trial) door.health.take_trial(now, now + store_.upstream.timeout + trial_grace);
    return door_place{shared_from_this(), door, *chosen};
}

std::optional<door_place> door_places::take(const tried_doors& tried) {
    return line_.empty() ? choose(tried) : std::nullopt;
}

void door_places::leave(std::size_t index, clock::duration stay) {
    --taken_[index];
    usual_stay_ += (stay - usual_stay_) / stays_remembered;
    let_in();
}

void door_places::let_in() {
    const auto too_late = clock::now() + usual_stay_ / 2;
    while (!line_.empty()) {
        waiting& first = *line_.front();
        if (first.limit >= too_late) {
            auto place = choose(first.tried);
            if (!place) return;
            first.given.emplace(std::move(*place));
        }
        line_.pop_front();
        first.in_line = false;
        first.alarm.cancel();
    }
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
    waiting own{.of = weak_from_this(),
                .tried = tried,
                .limit = limit,
                .shown = store_.waiting,
                .alarm = net::steady_timer{io_}};
    own.alarm.expires_at(limit);
    line_.push_back(&own);
    co_await own.alarm.async_wait(no_throw);
    co_return std::move(own.given);
}

}  // namespace seriesgate
