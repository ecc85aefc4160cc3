#include "marker/marker_book.hpp"

#include <algorithm>

namespace seriesgate {
namespace {

/// How long Prometheus and those that do as it does take a sample for the present value (query.lookback-delta).
constexpr auto looked_back = std::chrono::minutes{5};

/// Adds to the last request, or begins one: names come in the order of their tenants.
void add(std::vector<marker_request>& requests, marker_sample sample) {
    if (requests.empty() || requests.back().tenant != sample.name.tenant)
        requests.push_back({.tenant = sample.name.tenant, .samples = {}});
    requests.back().samples.push_back(std::move(sample));
}

}  // namespace

std::vector<marker_request> marker_book::next(const marker_values& values, time_point now) {
    std::erase_if(told_, [&](const auto& each) { return now - each.second.last_value > looked_back; });
    const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
    std::vector<marker_request> requests;
    auto ending = told_.begin();
    const auto end_those_before = [&](const marker_name* name) {
        for (; ending != told_.end() && (name == nullptr || ending->first < *name); ++ending)
            add(requests, {.name = ending->first,
                           .series_refused = std::nullopt,
                           .timestamp = std::max(now_ms, ending->second.last + 1)});
    };
    for (const auto& [name, series_refused] : values) {
        end_those_before(&name);
        std::int64_t timestamp = now_ms;
        if (ending != told_.end() && ending->first == name) timestamp = std::max(now_ms, (ending++)->second.last + 1);
        add(requests, {.name = name, .series_refused = series_refused, .timestamp = timestamp});
    }
    end_those_before(nullptr);
    if (!last_tenant_) return requests;
    const auto first = std::ranges::upper_bound(requests, *last_tenant_, {}, &marker_request::tenant);
    std::rotate(requests.begin(), first, requests.end());
    return requests;
}

void marker_book::sent(const marker_request& request, bool is_taken, time_point now) {
    for (const marker_sample& each : request.samples) {
        if (each.series_refused) {
            told_.insert_or_assign(each.name, told{.last = each.timestamp, .last_value = now});
        } else if (is_taken) {
            told_.erase(each.name);
        } else if (const auto found = told_.find(each.name); found != told_.end()) {
            found->second.last = each.timestamp;
        }
    }
}

}  // namespace seriesgate
