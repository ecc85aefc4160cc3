/// Asks the shared store what a request wants to know.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "claim/store_questions.hpp"
#include "fleet/fleet_shared.hpp"
#include "net/async.hpp"
#include "net/fair_queue.hpp"
#include "redis/redis_client.hpp"

namespace seriesgate {

/// One worker's way to the store. Calls of many requests are under way at once, those of one request one after the
/// other. All calls of a request together take shared.timeout at most. Threads: the worker's.
class claimer {
    fleet_shared& shared_;
    redis_client client_;
    fair_queue turns_;

  public:
    using clock = monotonic_clock;

    claimer(net::io_context& io, fleet_shared& shared);

    /// Call it every second.
    void maintain() {
        client_.maintain();
        client_.follow_server(shared_.server_now());
    }

    /// @param of what the request asks; it may ask nothing.
    /// @return nothing if the hour was over for the store: then look up and ask anew, by fleet_shared::now().
    net::awaitable<std::optional<fleet_decision>> ask(store_questions& of, std::string_view tenant);

    /// The gate decides alone about what has no answer, as shared.onUnavailable says.
    fleet_decision decide(store_questions& of, std::vector<std::optional<store_answer>> answers = {});

  private:
    enum class end : std::uint8_t { decided, closed, unanswered };

    [[nodiscard]] decision_outcome without_answer(std::span<const shared_budget* const> budgets, std::int64_t hour);
    net::awaitable<end> ask_one(const store_questions& of, const store_call& one, std::string_view tenant,
                                clock::time_point limit, std::optional<store_answer>& answer);
    void count(const store_questions& of, std::span<const std::optional<store_answer>> answers);
};

}  // namespace seriesgate
