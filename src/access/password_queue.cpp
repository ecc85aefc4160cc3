#include "access/password_queue.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace seriesgate {

void password_queue::order::give(password_verdict made) const noexcept {
    for (const listener& each : asking) {
        try {
            each(made);
        } catch (const std::exception&) {  // no memory: the others are told all the same
            continue;
        }
    }
}

bool password_queue::add(std::string_view peer, password_question question, listener asking, clock::time_point now) {
    order fresh{std::move(question), {}, now};
    fresh.asking.push_back(std::move(asking));
    std::optional<order> dropped;
    const bool taken = [&] {
        const std::scoped_lock lock{guard_};
        return insert(peer, fresh, dropped);
    }();
    if (dropped) dropped->give(password_verdict::unchecked);
    return taken;
}

bool password_queue::insert(std::string_view peer, order& fresh, std::optional<order>& dropped) {
    const auto lane = lanes_.find(peer);
    if (lane != lanes_.end()) {
        const auto same = [&](const order& each) { return same_digest(each.question.of, fresh.question.of); };
        if (const auto found = std::ranges::find_if(lane->second, same); found != lane->second.end()) {
            if (found->asking.size() >= asking_max) return false;
            found->asking.push_back(std::move(fresh.asking.front()));
            return true;
        }
        if (lane->second.size() >= orders_per_peer_max) return false;
    }
    const std::size_t own = lane != lanes_.end() ? lane->second.size() : 0;
    if (size_ >= orders_max && !(dropped = drop_one_of_longest(own))) return false;
    if (lane != lanes_.end()) {
        lane->second.push_back(std::move(fresh));
    } else {
        std::deque<order> orders;
        orders.push_back(std::move(fresh));
        lanes_.emplace(peer, std::move(orders));
    }
    ++size_;
    notify_();
    return true;
}

// Whose lane it is has more than the newcomer would have, so the newcomer's own lane is never the one, and it is not
// empty afterwards.
std::optional<password_queue::order> password_queue::drop_one_of_longest(std::size_t own) {
    const auto orders = [](const auto& lane) { return lane.second.size(); };
    auto& longest = std::ranges::max_element(lanes_, {}, orders)->second;
    if (longest.size() <= own + 1) return std::nullopt;
    std::optional<order> dropped = std::move(longest.back());
    longest.pop_back();
    --size_;
    return dropped;
}

std::optional<password_queue::order> password_queue::take() {
    const std::scoped_lock lock{guard_};
    if (size_ == 0) return std::nullopt;
    return take_next();
}

password_queue::order password_queue::take_next() {
    auto lane = lanes_.upper_bound(last_);
    if (lane == lanes_.end()) lane = lanes_.begin();
    last_ = lane->first;  // what may throw comes first
    order next = std::move(lane->second.front());
    lane->second.pop_front();
    --size_;
    if (lane->second.empty()) lanes_.erase(lane);
    return next;
}

std::size_t password_queue::size() const {
    const std::scoped_lock lock{guard_};
    return size_;
}

}  // namespace seriesgate
