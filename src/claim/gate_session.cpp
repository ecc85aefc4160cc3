#include "claim/gate_session.hpp"

#include <algorithm>

namespace seriesgate {

heartbeat gate_session::next(const facts& now) {
    const open_windows open = view_.windows();
    heartbeat made{.gate = who_.name,
                   .fingerprints = who_.fingerprints,
                   .version = who_.version,
                   .clock = now.at.own,
                   .epoch = view_.epoch(),
                   .hour = open.hour,
                   .generation = open.generation,
                   .refilled = now.refilled,
                   .grace = now.grace,
                   .leaves = now.leaves};
    // Until the last answer from before the loss is settled, there may be more to tell.
    if (refills_ && !made.refilled) made.refilled = 0;
    names_gates_ = made.refilled.has_value();
    if (names_gates_)
        for (const gate_heard_of& each : gates_)
            if (each.name != who_.name) made.heard_of.push_back(each);
    const time_point fleet_now = view_.clock.now(now.at.steady, now.at.own);
    // Whoever began after the grace says so within the refill: when that ends, places that had lapsed must lapse at
    // once.
    const bool is_joined = view_.state() == store_reach::joined;
    const bool has_begun_late = view_.state() == store_reach::refilling && view_.accepts_none(open.hour);
    const bool may_tell = (is_joined || has_begun_late) && !refills_ && open.hour >= 0 &&
                          hour_number(fleet_now) == open.hour &&
                          fleet_now >= time_point{std::chrono::hours{open.hour}} + now.grace;
    if (may_tell && told_ != open.hour && view_.say_told(open.hour, now.is_clean)) told_ = open.hour;
    made.is_told = told_ == open.hour;
    made.has_lapsed = made.is_told && lapsed_ == open.hour;
    return made;
}

gate_session::news gate_session::take_answer(const heartbeat_answer& said, const clocks& at) {
    const store_state& store = said.state;
    if (store.status == heartbeat_status::foreign) return news::foreign;
    view_.clock.note(store.windows.now, at.steady);
    // A gate that begins has no witness but its own clock and those of the others.
    const auto agrees = [&at](time_point other) { return witnessed_clock::agree(other, at.own); };
    const time_point most = store.windows.now + store.ahead;
    const bool is_wrong = !view_.clock.has_heard() && !agrees(store.windows.now) && agrees(most);
    if (is_wrong || !view_.clock.correct(store.windows.now, store.windows.hour, at.steady, at.own)) {
        view_.set_state(store_reach::wrong_clock);
        return news::wrong_clock;
    }
    const std::string known = view_.epoch();
    const bool is_another = known != store.epoch;
    const bool is_lost = is_another && (!known.empty() || has_series_);
    view_.begin(store.epoch, store.windows);
    // Not amid a refill: another store, or one that gates have told again. It knows better.
    if (is_another && !store.is_refilling) lapsed_ = -1;
    // A store that is back with data of an earlier hour says nothing of this one.
    const std::int64_t hour_now = hour_number(view_.clock.now(at.steady, at.own));
    if (const open_windows& open = store.windows; open.hour == hour_now && open.hour != lapsed_)
        lapsed_ = open.buckets.before != 0 && !open.keeps_places ? open.hour : -1;
    if (is_another) {
        has_series_ = false;
        refills_ = is_to_begin_ = is_lost;
        is_loss_ = is_lost && !known.empty();
    } else if (names_gates_ || !refills_ || !store.is_refilling) {
        // Names of gates are kept from before a loss until the store has heard of them.
        gates_ = said.gates;
    }
    if (gates_.empty()) gates_ = said.gates;
    view_.hear_gates(said.gates.size());
    view_.set_state((refills_ && is_loss_) || store.is_refilling ? store_reach::refilling : store_reach::joined);
    return is_to_begin_ ? news::lost_data : news::none;
}

double gate_session::place() const noexcept {
    if (gates_.empty()) return 0;
    const auto before = std::ranges::count_if(gates_, [this](const auto& each) { return each.name < who_.name; });
    return static_cast<double>(before) / static_cast<double>(gates_.size());
}

}  // namespace seriesgate
