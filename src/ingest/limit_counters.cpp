#include "ingest/limit_counters.hpp"

#include <string>

#include "metrics/exposition.hpp"
#include "series/label.hpp"

namespace seriesgate {

void limit_counters::add(std::string_view limit, std::string_view tenant, std::uint64_t amount, clock::time_point now) {
    const std::scoped_lock held{lock_};
    if (counts_.is_full() && now >= next_look_) make_room(now);
    count& of = counts_.at(limit, tenant);
    of.amount += amount;
    of.last = now;
}

void limit_counters::make_room(clock::time_point now) {
    next_look_ = now + look_interval;
    counts_.erase_if([now](const count& each) { return now - each.last >= idle_min; });
}

std::uint64_t limit_counters::total() const {
    const std::scoped_lock held{lock_};
    std::uint64_t sum = 0;
    counts_.for_each([&](std::string_view, std::string_view, const count& each) { sum += each.amount; });
    return sum;
}

std::vector<limit_counters::occasion> limit_counters::last_occasions() const {
    std::vector<occasion> all;
    copy().for_each([&](const std::string& limit, const std::string& tenant, const count& each) {
        if (tenant != other_tenants) all.push_back({.limit = limit, .tenant = tenant, .last = each.last});
    });
    return all;
}

void limit_counters::write(exposition& out, std::string_view name, std::string_view help) const {
    out.family(name, help, metric_type::counter);
    const limit_table<count> counts = copy();  // requests do not wait for the text
    counts.for_each([&](std::string_view limit, std::string_view tenant, const count& each) {
        out.sample({{"limit", limit}, {"tenant", readable(tenant)}}, each.amount);
    });
}

limit_table<limit_counters::count> limit_counters::copy() const {
    const std::scoped_lock held{lock_};
    return counts_;
}

}  // namespace seriesgate
