#include "redis/redis_route.hpp"

namespace seriesgate {

const host_port& redis_route::next() const noexcept {
    if (moved_to_) return *moved_to_;
    const std::size_t place = turn_ % (known_.size() + 1);
    return place == 0 ? first_ : known_[place - 1];
}

void redis_route::failed() noexcept {
    if (moved_to_)
        moved_to_.reset();
    else
        ++turn_;
}

}  // namespace seriesgate
