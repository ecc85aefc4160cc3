/// A store that may have lost counts gets them back from the gates that have been told of them.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "claim/count_offer.hpp"
#include "core/result.hpp"
#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// What stands behind EVALSHA and the digest, for redis_client::call_script_there.
/// @param budgets of that offer, at most offered_budgets_max
std::vector<std::string> words_of(const recovery_words& said, const count_offer& offer,
                                  std::span<const offered_budget> budgets, const store_keys& keys);

/// @return what is wrong with the reply, if it is none that the script makes.
result<recovery_answer, std::string> read_recovery_answer(const redisReply& reply);

/// One gate's part in it. Threads: that of its client.
class recovery {
    using clock = monotonic_clock;

    fleet_shared& shared_;
    const std::string gate_;
    std::string in_;                            // the recovery that this gate has offered its counts in
    std::optional<clock::time_point> entered_;  // when it heard of that
    bool has_offered_all_ = false;              // and not a part, before it could not be reached any more
    std::uint64_t offered_up_to_ = 0;           // of what it has heard
    std::size_t budgets_ = 0;

  public:
    /// @param shared outlives it.
    recovery(fleet_shared& shared, std::string gate) : shared_(shared), gate_(std::move(gate)) {}

    /// Whether nothing has been lost since this gate has offered all that it had heard.
    [[nodiscard]] bool has_offered_in(const std::string& since) const noexcept {
        return has_offered_all_ && in_ == since;
    }
    /// Counts that were offered since begin().
    [[nodiscard]] std::size_t budgets() const noexcept { return budgets_; }

    /// From here on all is offered anew.
    void begin() noexcept;

    /// Offers what has not been offered yet. The recovery may end with that.
    /// @param others see recovery_words
    /// @return whether the counts are whole now; or why it cannot be said
    net::awaitable<result<bool, std::string>> offer(redis_client& over, std::vector<std::string> others,
                                                    untold_series_of untold, clock::duration patience);
};

}  // namespace seriesgate
