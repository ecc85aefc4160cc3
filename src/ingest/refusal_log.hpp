/// When the log says which limits refuse, and how much.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>

#include "ingest/limit_table.hpp"
#include "log/sparse_log.hpp"
#include "system/clock.hpp"

namespace seriesgate {

/// At most one line in ten seconds for each limit and tenant, so that one explosion does not hide another, and at most
/// ten in all. What finds no line is summed up in one more. Threads: any.
class refusal_log {
  public:
    using clock = monotonic_clock;
    static constexpr auto interval = sparse_log::usual_interval;
    static constexpr std::size_t lines_max = 10;

    struct summary {
        std::uint64_t samples = 0;
        std::uint64_t limits = 0;  ///< pairs of a limit and a tenant
    };
    /// What is to be said now.
    struct due {
        std::uint64_t samples = 0;  ///< of the limit and tenant that were passed, since their last line; 0: no line
        std::optional<summary> others{};  ///< of those that found no line, since the last summary
    };

    /// For who looks every now and then, so that what was refused after the last line of an explosion is told, too.
    std::optional<summary> rest(clock::time_point now = clock::now());
    /// Adds what was refused, and says what is due: the caller then writes it.
    due count(std::string_view limit, std::string_view tenant, std::uint64_t samples,
              clock::time_point now = clock::now());

  private:
    struct entry {
        std::uint64_t samples = 0;  // that nothing has been said of
        clock::time_point next_line = clock::time_point::min();
        std::uint64_t summary = 0;  // the last one that it is part of
    };

    void begin_interval(clock::time_point now);
    void sum_up(entry& of);
    std::optional<summary> take_summary(clock::time_point now);

    std::mutex lock_;
    limit_table<entry> entries_;
    clock::time_point interval_end_ = clock::time_point::min();
    std::size_t lines_ = 0;  // in this interval
    summary rest_;
    std::uint64_t summaries_ = 1;
    clock::time_point next_summary_ = clock::time_point::min();
};

}  // namespace seriesgate
