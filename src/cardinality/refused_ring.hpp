/// Keeps the last refused series with all their data.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "core/synchronization.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/label.hpp"

namespace seriesgate {

struct refused_series {
    series_labels labels{};
    bool is_cut = false;  ///< its labels were too long to keep all
    std::string tenant{};
    std::string limit{};  ///< the limit's name, see limit_names in limit/rules.hpp
    refusing_window window = refusing_window::hourly;
    std::string sender{}, agent{};
    time_point when{};
};

/// Keeps each series once. Bounded in number, bytes and work: at most per_second series in a second, the last of a
/// batch. Threads: any.
class refused_ring {
  public:
    static constexpr std::size_t series_max = 1'000;
    static constexpr std::size_t bytes_max = 8u << 20;
    /// Longer series keep only the beginnings of their labels.
    static constexpr std::size_t series_bytes_max = 256u << 10;
    static constexpr std::size_t per_second = 10'000;

    /// Asks before a batch of refused series is copied.
    /// @return how many to put in, from the end of the batch. More would replace each other, or be too much work.
    std::size_t grant(std::size_t wanted, time_point now);
    /// Call it in their order.
    void put(std::uint64_t fingerprint, refused_series series);

    /// The newest first. The series stay valid whatever happens later.
    [[nodiscard]] std::vector<std::shared_ptr<const refused_series>> all();

  private:
    struct kept {
        std::uint64_t fingerprint = 0;
        std::size_t bytes = 0;
        std::shared_ptr<const refused_series> series{};
    };
    struct ring {
        std::list<kept> series{};  // the newest first
        boost::unordered_flat_map<std::uint64_t, std::list<kept>::iterator> places{};
        std::size_t bytes = 0;
        std::size_t taken = 0;  // in this second
        std::chrono::sys_seconds second{};
    };
    guarded<ring> ring_;
};

std::string reason_of(const refused_series& one);

/// Copies up to series_bytes_max.
void set_labels(refused_series& of, std::span<const label_view> labels);

}  // namespace seriesgate
