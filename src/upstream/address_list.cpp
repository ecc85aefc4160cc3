#include "upstream/address_list.hpp"

#include <algorithm>
#include <cassert>

namespace seriesgate {

/// Forgets failed addresses after a while, and those that the name no longer has, so `bad_` stays bounded.
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

address_list::address_list(endpoints fixed)
    : due_(clock::time_point::max()), looked_up_(true), has_any_(true), known_(std::move(fixed)) {
    assert(!known_.empty());
    now_ = clock::now;
}

address_list::address_list(lookup look_up, time_source now) : look_up_(std::move(look_up)), now_(std::move(now)) {}

void address_list::refresh() {
    if (asking_ || now_() < due_) return;
    asking_ = true;
    asked_at_ = now_();
    try {
        look_up_([this](error_code error, endpoints found) { take(error, std::move(found)); });
    } catch (...) {  // no memory or no thread: the next call tries again
        asking_ = false;
        throw;
    }
}

void address_list::take(error_code error, endpoints found) {
    assert(asking_);
    asking_ = false;
    looked_up_ = true;
    const auto now = now_();
    const auto pause = std::clamp<clock::duration>(now - asked_at_, retry_interval, refresh_interval);
    due_ = now + (error ? pause : refresh_interval);
    failure_ = error;
    if (error) return;
    known_ = std::move(found);
    has_any_ = !known_.empty();
}

}  // namespace seriesgate
