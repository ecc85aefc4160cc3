#include "upstream/upstream_health.hpp"

#include <cassert>
#include <utility>

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

std::optional<upstream_health::name_news> upstream_health::looked_up(error_code error, clock::time_point now) {
    const auto held = name_.lock();
    const bool was_well = held->fault.empty();
    if (!error) {
        held->fault.clear();
        if (was_well || !std::exchange(held->told, false)) return std::nullopt;
        return name_news{.resolves = true, .lasted = since(held->since, now)};
    }
    if (was_well) held->since = now;
    held->fault = error.message();
    if (!held->line.count(1, now)) return std::nullopt;
    held->told = true;
    return name_news{.resolves = false, .lasted = since(held->since, now)};
}

std::string upstream_health::name_fault() {
    return name_.lock()->fault;
}

}  // namespace seriesgate
