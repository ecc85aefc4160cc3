#include "net/fair_queue.hpp"

namespace seriesgate {

net::awaitable<fair_queue::turn> fair_queue::take(std::string_view key, clock::time_point limit) {
    if (free_ > 0) {
        --free_;
        co_return turn{here_};
    }
    if (waiting_ == waiting_max_) co_return turn{nullptr};
    const auto self = std::make_shared<waiter>(waiter{.wakes = async_timer{io_, limit}});
    const std::string name{key};
    by_key_[name].push_back(self);
    ++waiting_;
    if (!self->has_turn) co_await self->wakes.async_wait(no_throw);
    if (!self->has_turn) leave(name, self);
    if (!self->has_turn) co_return turn{nullptr};
    co_return turn{here_};
}

/// Gives the turn to the first waiter of the next key in order. A waiter whose timer runs out at this moment still gets
/// it: its coroutine checks has_turn first.
void fair_queue::pass_on() noexcept {
    if (by_key_.empty()) {
        ++free_;
        return;
    }
    auto next = by_key_.upper_bound(last_);
    if (next == by_key_.end()) next = by_key_.begin();
    const auto chosen = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) {
        last_ = std::move(by_key_.extract(next).key());
    } else {
        last_ = next->first;
    }
    --waiting_;
    chosen->has_turn = true;
    chosen->wakes.cancel();
}

void fair_queue::leave(std::string_view key, const std::shared_ptr<waiter>& gone) {
    const auto of = by_key_.find(key);
    std::erase(of->second, gone);
    if (of->second.empty()) by_key_.erase(of);
    --waiting_;
}

}  // namespace seriesgate
