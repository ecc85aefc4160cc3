#include "fleet/turns.hpp"

#include <algorithm>
#include <utility>

#include "net/async_timer.hpp"

namespace seriesgate {

net::awaitable<turns::turn> turns::take(std::string_view tenant, clock::time_point limit) {
    if (free_ > 0) {
        --free_;
        co_return turn{here_};
    }
    if (waiting_ == waiting_max_) co_return turn{nullptr};
    const auto self = std::make_shared<waiter>(waiter{.wakes = async_timer{io_, limit}});
    const std::string key{tenant};
    by_tenant_[key].push_back(self);
    ++waiting_;
    if (!self->has_turn) co_await self->wakes.async_wait(no_throw);
    if (!self->has_turn) leave(key, self);
    if (!self->has_turn) co_return turn{nullptr};
    co_return turn{here_};
}

/// To the first that waits of the tenant that comes after the one served last. A timer that has run out at the same
/// moment has its turn all the same: its coroutine looks at has_turn first.
void turns::pass_on() noexcept {
    if (by_tenant_.empty()) {
        ++free_;
        return;
    }
    auto next = by_tenant_.upper_bound(last_);
    if (next == by_tenant_.end()) next = by_tenant_.begin();
    const auto chosen = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) {
        last_ = std::move(by_tenant_.extract(next).key());
    } else {
        last_ = next->first;
    }
    --waiting_;
    chosen->has_turn = true;
    chosen->wakes.cancel();
}

void turns::leave(std::string_view tenant, const std::shared_ptr<waiter>& gone) {
    const auto of = by_tenant_.find(tenant);
    std::erase(of->second, gone);
    if (of->second.empty()) by_tenant_.erase(of);
    --waiting_;
}

}  // namespace seriesgate
