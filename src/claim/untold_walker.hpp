/// Tells the shared store of series that passed without its answer, and after a loss of data of all that a gate knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "claim/fleet_rules.hpp"
#include "claim/store_call.hpp"
#include "limit/telling.hpp"

namespace seriesgate {

/// Walks through the limiter's table, where what is untold is marked: there is no queue that could overflow or be lost.
/// One call is under way at a time. Functions throw std::bad_alloc if memory runs out; then the next call goes on.
/// Threads: one.
class untold_walker {
    series_limiter* limiter_;
    fleet_rules rules_;
    std::vector<std::uint64_t> found_;  // to be told of, from at_ on
    std::size_t at_ = 0;
    std::size_t taken_ = 0;            // how many of found_ the running call tells
    std::vector<std::uint64_t> room_;  // for the next notes
    bool searches_ = true;             // the table has more than was noted
    std::uint64_t next_ = 0;           // where in the table
    telling under_way_;
    // After a loss:
    bool refills_ = false;
    bool drains_ = false;            // what has passed meanwhile belongs to it
    std::uint64_t drain_calls_ = 0;  // at most: what passes without an answer may come faster than it is told
    bool has_wrapped_ = false;
    std::uint64_t first_ = 0;  // where it began
    std::uint64_t progress_ = 0;

  public:
    /// So many calls a refill may have for what passes meanwhile, and as many as it needed for the table.
    static constexpr std::uint64_t drain_calls_min = 1'000;

    /// @param key of the installation. @param limiter of scope fleet, with a table; outlives this.
    untold_walker(series_limiter& limiter, const hash_key& key) : limiter_(&limiter), rules_(key) {}

    /// The next call; describe() gives its terms. Nothing: there is nothing to tell.
    [[nodiscard]] std::optional<store_call> next();
    /// Describes the rules and the hour of the last call.
    void describe(gate_terms& into) const;
    /// The store has decided about the last call.
    void is_told();
    /// The store has not decided: the next call tells the same series, with the windows that they are in then.
    void is_not_told() noexcept { taken_ = 0; }

    /// Begins to tell of all series, even amid other calls. @param place from 0 to 1: where in the table it begins.
    void refill(double place);
    /// As heartbeat::refilled. Nothing: no refill is under way.
    [[nodiscard]] std::optional<std::uint64_t> refilled() const noexcept {
        return refills_ || drains_ ? std::optional{progress_} : std::nullopt;
    }
    /// Whether the store has been told of all that has passed until now.
    [[nodiscard]] bool is_clean();
    /// Series found and not told yet; there may be more.
    [[nodiscard]] std::size_t waiting() const noexcept { return found_.size() - at_; }

  private:
    bool find();
    bool find_for_refill();
    [[nodiscard]] store_call call_of(const telling& made, std::size_t& told);
};

}  // namespace seriesgate
