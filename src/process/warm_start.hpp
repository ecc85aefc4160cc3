/// The warm start: admits the series that a store has, before limits apply.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "ingest/series_sampler.hpp"
#include "ingest/warm_series.hpp"
#include "limit/window.hpp"
#include "net/async.hpp"
#include "plan/planner.hpp"
#include "series/fingerprint.hpp"
#include "series/selector.hpp"
#include "upstream/query_client.hpp"

namespace seriesgate {

class fleet_shared;

/// Reads the series of the last `warmStart.lookback` through the store's query API. Series that were there before are
/// admitted, above limits too, for they have passed already. Younger ones may be an explosion: they come last, and only
/// while there is room.
///
/// It asks with last_over_time() for some metric names at a time, because /api/v1/series of VictoriaMetrics answers for
/// whole days, whatever `start` says. If a store refuses the amount, it asks for fewer names, and then for shorter
/// times. In a fleet the younger ones are asked about when they come, and the start is over when the shared store has
/// been told of the old ones. Memory: the fingerprints of the series of some names. Threads: those of its event loop,
/// one.
class warm_start {
  public:
    struct sources {
        const config& settings;
        const hash_key& key;
        series_limiter& limiter;
        warm_series& progress;
        series_sampler& sampler;          ///< gets the old series: rules are tried on them
        std::function<time_point()> now;  ///< the clock that decides about requests
        fleet_shared* fleet = nullptr;    ///< null: a single gate
    };

    /// Nothing is refused from here to the end of run(). Throws as query_client does. All arguments outlive it.
    warm_start(net::io_context& io, const sources& from);

    /// Reads, and watches for five minutes whether senders have the same series. Spawn it once.
    net::awaitable<void> run();

  private:
    using time_limit = std::chrono::steady_clock::time_point;
    using seconds = std::chrono::seconds;
    using names = std::vector<std::string>;

    /// A time before the start: its length, and how long before the start it ended.
    struct stretch {
        seconds length;
        seconds ago{0};
    };
    enum class use : std::uint8_t { note_old, admit_old, admit_younger };
    /// Where the series of an answer go.
    struct reading {
        use what;
        std::string_view tenant;
    };
    /// A part of the work that waits for the second round.
    struct part {
        std::string tenant;
        std::string match;  ///< matchers besides those of the names
        names of;           ///< empty: all
    };
    /// Why it goes no further.
    struct abandoned {
        warm_state as;
        std::string why;
    };

    static std::vector<part> parts_of(const std::string& tenant, const selector& match, const names& all);
    [[nodiscard]] store_query names_query(std::string_view tenant) const;
    [[nodiscard]] store_query series_query(const part& of, const stretch& when) const;
    net::awaitable<std::optional<abandoned>> read_all();
    net::awaitable<std::optional<abandoned>> read_tenant(std::string tenant);
    net::awaitable<std::optional<abandoned>> list_names(std::string_view tenant, names& found);
    /// Whether the store answers a question that is cheap.
    net::awaitable<bool> lists_names(std::string_view tenant);
    net::awaitable<std::optional<abandoned>> read_old(part of);
    net::awaitable<std::optional<abandoned>> read(const part& of, stretch when, use what);
    net::awaitable<query_outcome> ask(const part& of, const stretch& when, use what);
    net::awaitable<std::optional<abandoned>> wait_for_store(const std::string& why, seconds& pause);
    net::awaitable<void> wait_until_told();
    net::awaitable<void> watch_senders();

    void take(std::span<const label_view> labels, const reading& to);
    void flush(const reading& to);
    void use_series(const reading& to);
    void note_old();
    void order_old();
    [[nodiscard]] bool is_old(std::uint64_t fingerprint) const noexcept;
    bool note_unread(const part& of, const std::string& why);
    void clear();
    void log_progress();
    void log_end(const std::optional<abandoned>& early);
    [[nodiscard]] std::size_t limits_exceeded() const;

    const sources from_;
    const warm_start_config& settings_;
    query_client store_;
    planner planning_;
    const time_limit began_;
    const time_limit limit_;
    std::chrono::sys_seconds start_{};  // of the store's times
    std::string body_;                  // a remote-write request of what was read last
    std::size_t series_in_body_ = 0;
    std::deque<std::uint64_t> old_;  // grows without a copy; sorted up to old_ordered_, see order_old()
    std::size_t old_ordered_ = 0;
    bool has_younger_ = false;
    bool has_any_ = false;             // of these series in the store
    std::vector<part> younger_;        // parts with younger series
    std::string first_unread_;         // why a part was not read
    std::set<std::string> in_part_;    // tenants and first names of parts that were not read completely
    std::size_t unread_in_a_row_ = 0;  // metric names
    std::uint64_t answers_ = 0;        // times that the store has shown that it answers
    time_limit next_progress_{};
};

}  // namespace seriesgate
