/// Counters by limit and tenant.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/limit_table.hpp"
#include "system/clock.hpp"

namespace seriesgate {

class exposition;

/// A few times for a request of which something was refused, never for others: a lock is good enough. When there are as
/// many pairs as there may be, those without news for a while make room, so that whoever makes up names of tenants does
/// not keep others out for ever. One that comes again counts from zero, as after a restart. Threads: any.
class limit_counters {
  public:
    using clock = monotonic_clock;
    static constexpr auto idle_min = std::chrono::minutes{10};
    static constexpr auto look_interval = std::chrono::minutes{1};

  private:
    struct count {
        std::uint64_t amount = 0;
        clock::time_point last{};
    };
    mutable std::mutex lock_;
    limit_table<count> counts_;
    clock::time_point next_look_{};

  public:
    void add(std::string_view limit, std::string_view tenant, std::uint64_t amount,
             clock::time_point now = clock::now());
    /// Of the pairs that are there.
    [[nodiscard]] std::uint64_t total() const;

    /// Which limits have had something to count, and when last; not of tenants that share one.
    struct occasion {
        std::string limit;
        std::string tenant;
        clock::time_point last;
    };
    [[nodiscard]] std::vector<occasion> last_occasions() const;

    /// A family with the labels `limit` and `tenant`.
    void write(exposition& out, std::string_view name, std::string_view help) const;

  private:
    [[nodiscard]] limit_table<count> copy() const;
    void make_room(clock::time_point now);
};

}  // namespace seriesgate
