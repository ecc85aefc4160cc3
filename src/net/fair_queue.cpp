#include "net/fair_queue.hpp"

namespace seriesgate {

net::awaitable<fair_queue::turn> fair_queue::take(std::string_view key, clock::time_point limit) {
    if (free_ > 0) {
        --free_;
        co_return grant();
    }
    if (waiting_ == waiting_max_) co_return nullptr;
    const auto self = std::make_shared<waiter>(waiter{.wakes = async_timer{io_, limit}, .key = std::string{key}});
    by_key_[self->key].push_back(self);
    ++waiting_;
    place mine{.of = here_, .self = self};
    if (!self->has_turn) co_await self->wakes.async_wait(no_throw);
    if (!self->has_turn) co_return nullptr;  // `mine` leaves
    mine.self = nullptr;
    co_return grant();
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
    if (next->second.empty()) by_key_.erase(next);
    --waiting_;
    last_ = std::move(chosen->key);
    chosen->has_turn = true;
    chosen->wakes.cancel();
}

/// Whoever has its turn already passes it on.
void fair_queue::leave(const std::shared_ptr<waiter>& gone) noexcept {
    if (gone->has_turn) return pass_on();
    const auto of = by_key_.find(gone->key);
    std::erase(of->second, gone);
    if (of->second.empty()) by_key_.erase(of);
    --waiting_;
}

}  // namespace seriesgate
