/// The last series that were refused, with all that is known of them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cardinality/cardinality_tables.hpp"
#include "core/synchronization.hpp"
#include "limit/verdict.hpp"
#include "limit/window.hpp"
#include "series/label.hpp"

namespace seriesgate {

/// A series as it was refused last.
struct refused_series {
    std::vector<std::pair<std::string, std::string>> labels{};
    bool is_cut = false;  ///< its labels were too long to keep all of them
    std::string tenant{};
    std::string limit{};  ///< the name, see limit_names.hpp
    refusing_window window = refusing_window::hourly;
    std::string sender{}, agent{};
    time_point when{};
};

/// Each series is in it once. Bounded in number and in bytes; and in work: no more than per_second are taken in a
/// second, of those that come at once the last.
/// Threads: any.
class refused_ring {
  public:
    static constexpr std::size_t series_max = 1'000;
    static constexpr std::size_t bytes_max = 8u << 20;
    /// Of one series. Longer ones keep the beginnings of their labels.
    static constexpr std::size_t series_bytes_max = 256u << 10;
    static constexpr std::size_t per_second = 10'000;

    /// Asked before anything is made of series that were refused together.
    /// @return how many of them are to be put in: the last ones. More would push each other out, or be too much work.
    std::size_t grant(std::size_t wanted, time_point now);
    /// In their order.
    void put(std::uint64_t fingerprint, refused_series series);

    /// The newest first. What is in it stays, whatever comes meanwhile.
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

        std::size_t grant(std::size_t wanted, time_point now);
        void put(kept one);
        void drop_last();
    };
    guarded<ring> ring_;
};

/// What has no room for it: a few words.
std::string reason_of(const refused_series& one);

/// Copies as much as series_bytes_max allows.
void set_labels(refused_series& of, std::span<const label_view> labels);

}  // namespace seriesgate
