#include "app/keeping.hpp"

#include <exception>
#include <stop_token>

#include "limit/limiter.hpp"
#include "log/log.hpp"

namespace seriesgate {

keeping::keeping(const sources& from) : in_(from.in), interval_(from.settings.state.interval) {
    if (!in_.directory) return;
    observed_.emplace(*in_.directory, from.key, from.noted, from.now(),
                      [&noted = from.noted, &limiter = from.limiter, now = from.now] {
                          noted.noted.catch_up();
                          noted.demand.look(limiter, now());
                      });
    if (!from.is_in_fleet) state_.emplace(from.settings, in_, from.key, from.limiter, from.metrics);
}

void keeping::start() {
    if (!observed_) return;
    thread_ = std::jthread{[this](const std::stop_token& end) {
        seriesgate::save_now_and_then(end, interval_,
                                      [this](const state_keeper::pause& between) { save_now_and_then(between); });
    }};
}

void keeping::finish() {
    thread_ = {};  // stopped and joined
    if (is_given_up()) return;
    save_all({});
}

bool keeping::give_up() {
    const std::scoped_lock lock{saves_};
    {
        const std::scoped_lock quick{belongs_};
        is_wanted_ = false;
    }
    if (!save_all({})) return false;
    const std::scoped_lock quick{belongs_};
    if (is_wanted_) return false;
    if (in_.directory) in_.directory->give_up();
    is_given_up_ = true;
    return true;
}

bool keeping::take_back() {
    const std::scoped_lock quick{belongs_};
    is_wanted_ = true;
    if (!is_given_up_) return true;
    try {
        if (in_.directory) in_.directory->take_back();
    } catch (const std::exception&) {
        return false;
    }
    is_given_up_ = false;
    return true;
}

void keeping::save_now_and_then(const state_keeper::pause& between) {
    const std::scoped_lock lock{saves_};
    if (is_given_up()) return;
    if (state_) state_->save_if_changed(between);  // first: it makes the directory anew if that has gone
    observed_->save_now_and_then();
}

bool keeping::save_all(const state_keeper::pause& between) {
    const bool saved = !state_ || state_->save(between);
    if (observed_) observed_->save();
    return saved;
}

bool keeping::is_given_up() {
    const std::scoped_lock quick{belongs_};
    return is_given_up_;
}

}  // namespace seriesgate
