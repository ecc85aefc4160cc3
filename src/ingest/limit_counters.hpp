/// Counters by limit and tenant.
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>

#include "ingest/limit_table.hpp"

namespace seriesgate {

class exposition;

/// A few times for a request of which something was refused, never for others: a lock is good enough. Threads: any.
class limit_counters {
    mutable std::mutex lock_;
    limit_table<std::uint64_t> counts_;

  public:
    void add(std::string_view limit, std::string_view tenant, std::uint64_t amount);
    [[nodiscard]] std::uint64_t total() const;
    /// A family with the labels `limit` and `tenant`.
    void write(exposition& out, std::string_view name, std::string_view help) const;

  private:
    [[nodiscard]] limit_table<std::uint64_t> copy() const;
};

}  // namespace seriesgate
