#include "app/keeping.hpp"

#include <exception>
#include <utility>

#include "app/background_pace.hpp"
#include "limit/limiter.hpp"
#include "log/log.hpp"
#include "net/async.hpp"

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

net::awaitable<void> keeping::run(std::stop_token ending) {
    if (!observed_) co_return;
    async_timer timer{co_await net::this_coro::executor};
    background_pace pace{std::move(ending)};
    const state_keeper::pause rest = [&pace] { pace.rest(); };
    for (;;) {
        timer.expires_after(interval_);
        co_await timer.async_wait(no_throw);
        save_now_and_then(rest);
        rest();
    }
}

void keeping::finish() {
    {
        const std::scoped_lock quick{belongs_};
        if (is_given_up_ && !is_wanted_) return;
        is_wanted_ = true;
    }
    const std::scoped_lock lock{saves_};
    if (may_save()) save_all({});
}

void keeping::promise() {
    const std::scoped_lock quick{belongs_};
    is_wanted_ = false;
}

bool keeping::give_up() {
    const std::scoped_lock lock{saves_};
    if (is_wanted() || !save_all({})) return false;
    const std::scoped_lock quick{belongs_};
    if (is_wanted_) return false;
    if (in_.directory) in_.directory->give_up();
    is_given_up_ = true;
    return true;
}

bool keeping::take_back() {
    const std::scoped_lock quick{belongs_};
    is_wanted_ = true;
    try {
        get_back();
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

void keeping::save_now_and_then(const state_keeper::pause& between) {
    const std::scoped_lock lock{saves_};
    if (!is_wanted() || !may_save()) return;
    const auto unless_promised = [&] {
        if (is_wanted()) between();
    };
    if (state_) state_->save_if_changed(unless_promised);  // first: it makes the directory anew if that has gone
    observed_->save_now_and_then();
}

bool keeping::save_all(const state_keeper::pause& between) {
    const bool saved = !state_ || state_->save(between);
    if (observed_) observed_->save();
    return saved;
}

bool keeping::may_save() {
    const std::scoped_lock quick{belongs_};
    try {
        get_back();
        return true;
    } catch (const std::exception& error) {
        if (state_) state_->note_failure(error.what());
        return false;
    }
}

bool keeping::is_wanted() {
    const std::scoped_lock quick{belongs_};
    return is_wanted_;
}

/// With belongs_ held. Throws std::runtime_error while another process has it.
void keeping::get_back() {
    if (!is_given_up_) return;
    if (in_.directory) in_.directory->take_back();
    is_given_up_ = false;
}

}  // namespace seriesgate
