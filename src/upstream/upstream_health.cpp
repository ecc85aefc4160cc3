#include "upstream/upstream_health.hpp"

#include <cassert>

namespace seriesgate {
namespace {

std::chrono::milliseconds since(upstream_health::clock::time_point begin, upstream_health::clock::time_point now) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - begin);
}

}  // namespace

std::optional<std::uint64_t> upstream_health::failed(upstream_error_reason reason, clock::time_point now) {
    assert(reason < upstream_error_reason::count_);
    const auto held = outage_.lock();
    if (!is_failing_.exchange(true)) {
        held->since = now;
        held->requests = 0;
        held->told = false;
    }
    ++held->requests;
    const auto line = held->lines[static_cast<std::size_t>(reason)].count(1, now);
    if (line) held->told = true;
    return line;
}

std::optional<std::uint64_t> upstream_health::rest(upstream_error_reason reason, clock::time_point now) {
    assert(reason < upstream_error_reason::count_);
    const auto held = outage_.lock();
    const auto line = held->lines[static_cast<std::size_t>(reason)].rest(now);
    if (line) held->told = true;
    return line;
}

std::optional<upstream_health::outage> upstream_health::answered(clock::time_point now) {
    if (!is_failing_.load(std::memory_order_relaxed)) [[likely]]
        return std::nullopt;
    const auto held = outage_.lock();
    const bool is_end = is_failing_.exchange(false);
    if (!is_end || !held->told) return std::nullopt;
    return outage{.lasted = since(held->since, now), .requests = held->requests};
}

}  // namespace seriesgate
