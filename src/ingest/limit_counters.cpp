#include "ingest/limit_counters.hpp"

#include <string>

#include "metrics/exposition.hpp"
#include "series/text.hpp"

namespace seriesgate {

void limit_counters::add(std::string_view limit, std::string_view tenant, std::uint64_t amount) {
    const std::scoped_lock held{lock_};
    counts_.at(limit, tenant) += amount;
}

std::uint64_t limit_counters::total() const {
    const std::scoped_lock held{lock_};
    std::uint64_t sum = 0;
    counts_.for_each([&](std::string_view, std::string_view, std::uint64_t count) { sum += count; });
    return sum;
}

void limit_counters::write(exposition& out, std::string_view name, std::string_view help) const {
    out.family(name, help, metric_type::counter);
    const limit_table<std::uint64_t> counts = copy();  // requests do not wait for the text
    counts.for_each([&](std::string_view limit, std::string_view tenant, std::uint64_t count) {
        out.sample({{"limit", limit}, {"tenant", readable(tenant)}}, count);
    });
}

limit_table<std::uint64_t> limit_counters::copy() const {
    const std::scoped_lock held{lock_};
    return counts_;
}

}  // namespace seriesgate
