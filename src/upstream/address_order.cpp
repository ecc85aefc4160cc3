#include "upstream/address_order.hpp"

#include <algorithm>

namespace seriesgate {

/// What is remembered is bounded by the addresses that there are: it is forgotten in time, and each is there once.
address_order::endpoints address_order::of(const endpoints& known, std::size_t turn, clock::time_point now) {
    std::erase_if(bad_, [&](const auto& each) {
        return each.second <= now || std::find(known.begin(), known.end(), each.first) == known.end();
    });
    endpoints ordered = known;
    if (ordered.size() < 2) return ordered;
    const auto first = ordered.begin() + static_cast<std::ptrdiff_t>(turn % ordered.size());
    std::rotate(ordered.begin(), first, ordered.end());
    std::stable_partition(ordered.begin(), ordered.end(), [&](const stream_endpoint& each) {
        return std::none_of(bad_.begin(), bad_.end(), [&](const auto& bad) { return bad.first == each; });
    });
    return ordered;
}

void address_order::failed(const stream_endpoint& at, clock::time_point now) {
    connected(at);
    bad_.emplace_back(at, now + memory);
}

void address_order::connected(const stream_endpoint& at) {
    std::erase_if(bad_, [&](const auto& each) { return each.first == at; });
}

}  // namespace seriesgate
