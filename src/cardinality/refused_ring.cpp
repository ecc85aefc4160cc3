#include "cardinality/refused_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

#include "limit/rules.hpp"

namespace seriesgate {
namespace {

/// Overhead besides the texts: the entry, its slot, and two strings per label.
constexpr std::size_t entry_bytes = 320;
constexpr std::size_t label_bytes = 64;

std::size_t bytes_of(const refused_series& series) {
    std::size_t sum =
        entry_bytes + series.tenant.size() + series.limit.size() + series.sender.size() + series.agent.size();
    for (const auto& [name, value] : series.labels) sum += label_bytes + name.size() + value.size();
    return sum;
}

}  // namespace

std::string reason_of(const refused_series& one) {
    const std::string_view when = one.window == refusing_window::hourly  ? "this hour"
                                  : one.window == refusing_window::daily ? "this day"
                                                                         : "for active series";
    if (one.limit == own_limit_names[global_limit]) return fmt::format("the global limit has no room {}", when);
    if (one.limit == own_limit_names[tenant_limit]) return fmt::format("the tenant's limit has no room {}", when);
    if (one.limit == own_limit_names[unavailable_limit]) return "the store of the fleet has not answered";
    return fmt::format("limit {} has no room {}", one.limit, when);
}

void set_labels(refused_series& of, std::span<const label_view> labels) {
    std::size_t room = refused_ring::series_bytes_max;
    for (const label_view& each : labels) {
        const std::size_t wanted = label_bytes + each.name.size() + each.value.size();
        if (wanted > room) {
            of.is_cut = true;
            if (room <= label_bytes + each.name.size()) continue;
            const std::string_view start = each.value.substr(0, room - label_bytes - each.name.size());
            of.labels.emplace_back(each.name, start);
            room = 0;
            continue;
        }
        of.labels.emplace_back(each.name, each.value);
        room -= wanted;
    }
}

std::size_t refused_ring::grant(std::size_t wanted, time_point now) {
    const auto held = ring_.lock();
    const auto current = std::chrono::floor<std::chrono::seconds>(now);
    if (current != held->second) {
        held->second = current;
        held->taken = 0;
    }
    const std::size_t room = std::min({wanted, series_max, per_second - held->taken});
    held->taken += room;
    return room;
}

void refused_ring::put(std::uint64_t fingerprint, refused_series series) {
    const std::size_t bytes = bytes_of(series);
    kept one{.fingerprint = fingerprint,
             .bytes = bytes,
             .series = std::make_shared<const refused_series>(std::move(series))};
    const auto held = ring_.lock();
    const auto drop = [&](std::list<kept>::iterator gone) {
        held->bytes -= gone->bytes;
        held->places.erase(gone->fingerprint);
        held->series.erase(gone);
    };
    if (const auto known = held->places.find(fingerprint); known != held->places.end()) drop(known->second);
    held->series.push_front(std::move(one));  // may throw: nothing is counted before
    held->bytes += bytes;
    held->places.emplace(fingerprint, held->series.begin());
    while (held->series.size() > series_max || held->bytes > bytes_max) drop(std::prev(held->series.end()));
}

std::vector<std::shared_ptr<const refused_series>> refused_ring::all() {
    std::vector<std::shared_ptr<const refused_series>> made;
    made.reserve(series_max);
    const auto held = ring_.lock();
    for (const kept& each : held->series) made.push_back(each.series);
    return made;
}

}  // namespace seriesgate
