#include "talkers/past_hours.hpp"

#include <algorithm>

#include "filter/distinct_sketch.hpp"

namespace seriesgate {

bool begins_hour(std::int64_t seconds) noexcept {
    return seconds >= 0 && seconds < std::int64_t{1} << 33 && seconds % 3'600 == 0;
}

void past_hours::add(const hour_counts& ended) {
    std::erase_if(hours_, [&](const hour_counts& each) { return each.start >= ended.start; });
    hours_.push_back(ended);
    if (hours_.size() > hours_max) hours_.erase(hours_.begin());
}

void past_hours::save(state_encoder& out) const {
    out.number(static_cast<std::uint64_t>(hours_.size()));
    for (const hour_counts& each : hours_) {
        out.number(static_cast<std::int64_t>(each.start.time_since_epoch().count()));
        out.number(each.arrived);
        out.number(each.refused);
    }
}

void past_hours::load(state_decoder& in) {
    hours_.clear();
    for (std::size_t left = in.count(hours_max); left > 0 && in.good(); --left) {
        const auto seconds = in.number<std::int64_t>();
        const auto arrived = in.number<std::uint64_t>();
        const auto refused = in.number<std::uint64_t>();
        const std::chrono::sys_seconds start{std::chrono::seconds{seconds}};
        if (!begins_hour(seconds) || (!hours_.empty() && hours_.back().start >= start)) in.fail();
        const bool is_exact = std::max(arrived, refused) <= window_sketch::exact_max;  // but for one under load
        if (in.good()) add({.start = start, .arrived = arrived, .refused = refused, .is_exact = is_exact});
    }
}

}  // namespace seriesgate
